#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/loop/loop.h"
#include "base/result.h"
#include "base/units.h"
#include "supervisor/output/attempt.h"
#include "supervisor/output/events.h"
#include "supervisor/output/nonblocking_fd.h"
#include "supervisor/output/print_order.h"
#include "supervisor/output/results.h"
#include "supervisor/output/spool.h"

namespace plimsoll::output {

// The program's stdout and stderr, and the piece of text that is being written to one of them. One
// piece is in hand at a time, so that lines stay whole where both lead to the same place.
class Printer {
 public:
  Printer(NonblockingFd out, NonblockingFd err) : outs_{Out{std::move(out)}, Out{std::move(err)}} {}

  enum class Flushed : std::uint8_t {
    all,
    waits,  // for the outlet of side() to be writable
    lost,   // the piece: that outlet has failed for good, told now for the first time
  };
  // Writes what is in hand as far as it goes. An error (out_of_room()) means that it stays in hand
  // and can be tried again.
  Result<Flushed> flush();

  // The piece to be written next, to be filled; only when nothing is in hand.
  std::string& piece(Side side);

  // Takes the piece away: somebody else writes it.
  [[nodiscard]] std::string take();

  [[nodiscard]] Side side() const { return side_; }
  [[nodiscard]] int fd() const { return out().nonblocking_fd.fd(); }
  [[nodiscard]] const Error& why_lost() const { return out().why_lost; }

 private:
  struct Out {
    NonblockingFd nonblocking_fd;
    bool lost = false;
    Error why_lost{};
  };
  [[nodiscard]] const Out& out() const { return outs_[static_cast<std::size_t>(side_)]; }

  std::array<Out, 2> outs_;
  Side side_ = Side::out;
  std::string piece_;
  std::size_t written_ = 0;  // of piece_
};

// The collector's work, all of it on the thread that runs `loop`: reads the pipes into the spool,
// prints from there whose turn it is, waits for room where there is none.
class OutputPump : private PrintOrderOwner {
 public:
  struct Setup {
    Order order{};
    std::vector<JobId> jobs;  // as in Config
    Spool spool;
    Printer printer;
    std::optional<Results> results;
    Duration escape_grace{};
    Duration retry_after{};
  };

  // `observer` is called on this thread; both references must outlive this.
  OutputPump(loop::Loop& loop, Setup setup, OutputObserver& observer);
  OutputPump(const OutputPump&) = delete;
  OutputPump& operator=(const OutputPump&) = delete;
  ~OutputPump() override = default;

  // Pieces for these sides, by Side, are handed over instead of written; on_screen() answers each.
  // Before anything else.
  void use_screen(std::function<void(std::string)> hand_over, std::array<bool, 2> sides) {
    hand_over_ = std::move(hand_over);
    screen_sides_ = sides;
  }

  // What Collector and Capture hand on.
  void open(std::shared_ptr<Attempt> attempt);
  void finish(std::uint64_t serial, Disposition disposition, TrafficTold told);
  void close(JobId job);
  void drain();
  void stop_waiting_for_room();
  // The piece that was handed over is taken, or never will be.
  void on_screen(Result<void> taken);
  void stop() { stopped_ = true; }
  [[nodiscard]] bool stopped() const { return stopped_; }
  // Bytes that were read from pipes and made ready to be printed so far.
  [[nodiscard]] std::uint64_t moved() const { return moved_; }

 private:
  struct Leaving {
    Instant until{};
    std::uint64_t serial = 0;
  };

  void make_results(Attempt& attempt);
  void watch(Channel& channel);
  void on_readable(Channel& channel);
  // These three may end the channel's attempt and destroy it.
  Stream::Read read(Channel& channel);
  void end(Channel& channel);
  void settle(Attempt& attempt);

  void retire(Attempt& attempt) override { attempts_.erase(attempt.serial); }
  void on_grace_over();
  void take_rest(Attempt& attempt);

  void stall(Channel& channel, Error error);
  void lose_held(Channel& channel);
  void retry();
  void report(std::optional<JobId> job, Error error, std::string consequence);

  void print();
  void finish_printing();
  [[nodiscard]] bool flush();
  void compose(Channel& channel);

  loop::Loop& loop_;
  std::function<void(std::function<void()>)> post_;  // to this thread
  Setup setup_;
  OutputObserver& observer_;
  std::unordered_map<std::uint64_t, std::shared_ptr<Attempt>> attempts_;
  std::unique_ptr<PrintOrder> turns_;
  std::array<char, kBlockBytes> buffer_{};

  loop::Timer grace_timer_;
  std::deque<Leaving> leaving_;  // rising in time

  loop::Timer retry_timer_;
  std::vector<Channel*> stalled_;  // hold what can't be kept, or can't be watched
  bool printer_stalled_ = false;   // the program's own output is a file on a full disk
  std::set<std::errc> reported_;   // since everything went well

  loop::Watch outlet_watch_;       // while an outlet has no room
  bool printing_goes_on_ = false;  // a call of print() is posted
  std::function<void(std::string)> hand_over_;
  std::array<bool, 2> screen_sides_{};
  bool handed_over_ = false;  // the screen has a piece and has not answered
  bool screen_told_ = false;  // that no piece will follow
  bool screen_lost_ = false;  // what goes there is thrown away
  bool draining_ = false;
  bool waits_for_room_ = true;  // or loses what a disk does not take
  std::uint64_t moved_ = 0;
  bool stopped_ = false;
};

}  // namespace plimsoll::output
