#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "base/result.h"
#include "base/units.h"

struct sd_event;
struct sd_event_source;
struct signalfd_siginfo;

namespace plimsoll::loop {

// One registered source of events. Destroying it ends the registration; it may be destroyed inside
// its own callback. Must not outlive its Loop.
class Source {
 public:
  struct Registration;  // what sd-event holds on to

  Source();
  explicit Source(std::unique_ptr<Registration> registration);
  Source(Source&&) noexcept;
  Source& operator=(Source&&) noexcept;
  ~Source();

  explicit operator bool() const { return registration_ != nullptr; }

  // Is dispatched before every other source that is ready at the same time. For what must not wait.
  void go_first();

 protected:
  std::unique_ptr<Registration> registration_;
};

// Calls back when a descriptor is ready. The descriptor stays the caller's and must outlive this.
class Watch : public Source {
 public:
  using Source::Source;
  // Replaces the epoll events waited for; 0 pauses the watch.
  void wait_for(std::uint32_t events);
};

// Calls back once at an instant; set() arms it again. Late by at most the kernel's timer slack.
class Timer : public Source {
 public:
  using Source::Source;
  void set(Instant when);
  void off();
};

// An event loop of one thread over sd-event(3). Callbacks run on the thread that calls run_once().
class Loop {
 public:
  static Result<Loop> create();
  Loop(Loop&&) noexcept;
  Loop& operator=(Loop&&) = delete;
  ~Loop();

  // `events` are those of epoll(7), EPOLLPRI included; the callback is given those that are ready.
  // Fails on descriptors that epoll refuses: regular files and directories.
  Result<Watch> watch(int fd, std::uint32_t events, std::function<void(std::uint32_t)> callback);

  // A timer that is off until it is set.
  Timer timer(std::function<void()> callback);

  // Takes the signal through a signalfd. Block it in every thread first.
  Result<Source> signal(int number, std::function<void(const signalfd_siginfo&)> callback);

  // Runs `call` on the loop's thread in its next turn, after everything posted before. From any
  // thread; never blocks for long. What has not run at the loop's end is destroyed by it, and what
  // is posted later by the poster; both may hold posters, and post when they are destroyed.
  [[nodiscard]] std::function<void(std::function<void()>)> poster() const;

  // Waits until something is ready, then dispatches one source. Returns after `timeout` at the
  // latest; a negative one means none. What it dispatches must not wait (base/may_wait.h).
  Result<void> run_once(Duration timeout);

  // The longest that one dispatch has taken: so long everything else had to wait.
  [[nodiscard]] Duration longest_turn() const { return longest_turn_; }

 private:
  class Inbox;
  struct EventUnref {
    void operator()(sd_event* event) const;
  };
  Loop();
  std::unique_ptr<sd_event, EventUnref> event_;
  std::shared_ptr<Inbox> inbox_;
  Watch inbox_watch_;
  Duration longest_turn_{};
};

// The monotonic clock. Read once a turn and hand the value on as `now`.
Instant now();

// CPU time of this thread so far: what something costs, however busy the machine is.
Duration cpu_time();

}  // namespace plimsoll::loop
