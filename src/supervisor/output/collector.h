#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "base/disk.h"
#include "base/loop/loop.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "base/units.h"
#include "supervisor/output/attempt.h"
#include "supervisor/output/events.h"
#include "supervisor/output/print_order.h"
#include "supervisor/output/traffic.h"

namespace plimsoll::output {

class OutputPump;

// A terminal on which somebody else draws: what goes there is handed over instead of written.
struct Screen {
  // Called on the supervisor's loop. One piece at a time: `done` tells, from that loop, that it was
  // taken or why that is for ever impossible. An empty piece is the last: `done` comes when all has
  // been written.
  std::function<void(std::string piece, std::function<void(Result<void>)> done)> print{};
  bool shows_out = false, shows_err = false;  // which of the two outputs lead there
};

struct Config {
  Order order = Order::group;
  std::vector<JobId> jobs{};  // all that there are, ascending; none: from 1 on, without a gap
  int out = STDOUT_FILENO;    // duplicated by start(); both may be the same file
  int err = STDERR_FILENO;
  std::string spool_dir{};                              // default_spool_dir()
  std::optional<std::string> results_dir{};             // --results
  Durability results_durability = Durability::written;  // synced: before an attempt is complete
  std::optional<Screen> screen{};
  Duration escape_grace = kEscapeGrace;
  Duration retry_after = kRetryAfter;
};

// Where one output of a job goes: to the collector, or to a file of the job's own, which is made or
// emptied. A relative path is one of Plimsoll's own working directory.
using Destination = std::optional<std::string>;

struct AttemptSpec {
  JobId job{};
  unsigned attempt = 1;  // rising within a job
  std::string name{};    // the user's name of the job: its directory below --results
  std::optional<std::string> tag{};
  Destination out{}, err{};  // absent: collected. The same path twice is one file, opened once
};

// The collector's hold on one attempt: tells it when the attempt is over. Destroyed before that, it
// discards the output. Must not outlive the Collector.
class Capture {
 public:
  Capture(Capture&& other) noexcept;
  Capture& operator=(Capture&& other) noexcept;
  ~Capture();

  // The attempt is over: nobody lives in its group, so its pipes have ended or will at once. A
  // process that left the group and holds one open is waited for as long as kEscapeGrace; then what
  // is there is taken and the pipe closed.
  // Returns how much was received if both pipes have ended already, as they mostly have; otherwise
  // OutputObserver::on_received() tells it. Once. Until then up to two pipes and two files are
  // open, so where a disk hangs, further attempts must not be started without bound.
  std::optional<Received> finish(Disposition disposition);

  // For people who watch: it may be behind by what is in the pipes.
  [[nodiscard]] Received so_far() const { return traffic_->so_far(); }

 private:
  friend class Collector;
  Capture(class Collector& collector, std::uint64_t serial, std::shared_ptr<Traffic> traffic)
      : collector_(&collector), serial_(serial), traffic_(std::move(traffic)) {}
  class Collector* collector_;
  std::uint64_t serial_;
  std::shared_ptr<Traffic> traffic_;
};

// An attempt's stdout and stderr for the child, to be closed when it is spawned, and the capture.
struct Opened {
  UniqueFd out, err;
  Capture capture;
};

// Collects what jobs write and prints it on a thread of its own, for any number of jobs: what waits
// stands in one unlinked file, not in memory, and needs no descriptor per job. Nobody's slow reader
// or full disk blocks the thread that calls; a job is held up by the pipe that it writes to when
// a disk is full, or when what it writes is printed at once (Order::line, or its turn in
// Order::ordered) and kBacklogMax of that are unread. docs/formats/output.md tells more.
//
// All calls are made on one thread, the one that runs `supervisor`.
class Collector {
 public:
  // Fails where the spool's directory can't be written, the results' not be made, or `out` and
  // `err` are not open. `observer` is told on the loop `supervisor`; it must outlive this.
  static Result<std::unique_ptr<Collector>> start(const loop::Loop& supervisor, Config config,
                                                  OutputObserver& observer);
  Collector(const Collector&) = delete;
  Collector& operator=(const Collector&) = delete;
  // What is not printed yet is lost. Waits for the write in hand, which a disk can make slow.
  ~Collector();

  // Makes the pipes of an attempt, or opens its files. A named pipe nobody reads is an error.
  Result<Opened> open(const AttemptSpec& spec);

  // With Order::ordered: the job will have no further attempt, so nobody waits for its turn. To be
  // said of every job that ends without an attempt that was kept; harmless of others.
  void close(JobId job);

  // The run is being killed: from now on what a full disk does not take is lost, and told, instead
  // of waited for.
  void stop_waiting_for_room();

  // No attempt is opened any more. When all are finished and printed, on_drained() comes.
  void drain();

 private:
  friend class Capture;
  Collector();
  void finish(std::uint64_t serial, Disposition disposition, TrafficTold told);

  std::shared_ptr<OutputObserver*> owner_;   // alone here: what is on its way finds it gone
  std::unique_ptr<OutputObserver> teller_;   // of the thread
  std::unique_ptr<loop::Loop> loop_;         // of the thread
  std::unique_ptr<OutputPump> output_pump_;  // of the thread
  std::function<void(std::function<void()>)> post_;
  Order order_{};
  std::uint64_t last_serial_ = 0;
  std::thread thread_;
};

}  // namespace plimsoll::output
