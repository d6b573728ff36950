#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "base/loop/loop.h"
#include "daemon/runner/lanes.h"

namespace plimsoll::daemon {

// Lanes with threads for their work, which comes back to a loop.
//
// Of the loop's thread, but for the work itself. Invariant: each call has its one answer; a lane is
// known while something of it runs or waits.
class FileLanes : public Lanes {
 public:
  // `patience` is for tests.
  explicit FileLanes(loop::Loop& loop, Duration patience = kPatience);
  FileLanes(const FileLanes&) = delete;
  FileLanes& operator=(const FileLanes&) = delete;
  // Waits kEndPatience at most for the work in hand; the rest is dropped, and nobody is answered.
  ~FileLanes() override;

  // Of the lanes that do not hang, or are not known to.
  static constexpr std::size_t kThreadsMax = 64;
  // Each lane that hangs keeps a thread of its own beside those, up to so many. Then what is new is
  // refused, as it may hang as well: the threads above are for what goes on.
  static constexpr std::size_t kHungMax = 64;
  // Work that has not taken a step for so long, waiting for its lane or its thread included, is
  // given up: longer than a busy disk takes for one, shorter than a worker's patience. A guess.
  static constexpr Duration kPatience = std::chrono::seconds(30);
  static constexpr Duration kEndPatience = std::chrono::seconds(5);

  // While a lane hangs, what comes new to it is given up at once; a first step also while kHungMax
  // others do. What no thread was free for names one that hangs.
  void submit(const std::string& lane, Work work, Done done, Step step = Step::further) override;

 private:
  class Threads;
  enum class Number : std::uint64_t {};
  struct Call {
    std::string lane;
    Work work;
    Done done;  // empty: it was given up
    std::shared_ptr<FileTurn> turn = std::make_shared<FileTurn>();
    Instant due{};
    std::uint64_t steps = 0;  // of its turn, when it was last looked at
  };
  struct Lane {
    std::optional<Number> running;
    std::deque<Number> waiting;
    bool hangs = false;
  };

  [[nodiscard]] Status why_given_up(const std::string& lane) const;
  [[nodiscard]] Status why_no_thread() const;
  void refuse(Status why, Done done);
  void set_hung(const std::string& name, Lane& lane, bool hangs);
  void begin(Lane& lane);
  void finished(Number id, Status status);
  void look();
  void give_up(Number id);
  void wait_until(Number id, Instant due);

  const Duration patience_;
  std::shared_ptr<Threads> threads_;
  // What is posted finds nobody when this is gone.
  std::shared_ptr<FileLanes*> self_ = std::make_shared<FileLanes*>(this);
  std::uint64_t last_call_ = 0;
  std::map<Number, Call> calls_;
  std::map<std::string, Lane> lanes_;
  std::set<std::string> hung_;                // of the lanes, by name
  std::set<std::pair<Instant, Number>> due_;  // of the calls that have no answer
  loop::Timer timer_;
};

}  // namespace plimsoll::daemon
