#include "base/loop/loop.h"

#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <systemd/sd-event.h>

#include <algorithm>
#include <ctime>
#include <deque>
#include <mutex>
#include <optional>
#include <vector>

#include "base/check.h"
#include "base/file.h"
#include "base/may_wait.h"
#include "base/unique_fd.h"

namespace plimsoll::loop {
namespace {

// sd-event takes an accuracy of 0 for its default of 250 ms.
constexpr std::uint64_t kTimerAccuracyUs = 1;

std::uint64_t microseconds(Instant when) {
  const auto us = std::chrono::ceil<std::chrono::microseconds>(when.time_since_epoch()).count();
  return us < 1 ? 1 : static_cast<std::uint64_t>(us);
}

tl::unexpected<Error> fail_code(int negative, std::string what) {
  return fail(static_cast<std::errc>(-negative), std::move(what));
}

}  // namespace

// The callback is shared so that it outlives a Source that is destroyed while it is being called.
struct Source::Registration {
  sd_event_source* source = nullptr;
  std::shared_ptr<std::function<void(std::uint32_t)>> on_io;
  std::shared_ptr<std::function<void()>> on_time;
  std::shared_ptr<std::function<void(const signalfd_siginfo&)>> on_signal;

  Registration() = default;
  Registration(const Registration&) = delete;
  Registration& operator=(const Registration&) = delete;
  ~Registration() { sd_event_source_disable_unref(source); }

  static int io(sd_event_source*, int, std::uint32_t events, void* self) {
    const auto call = static_cast<Registration*>(self)->on_io;
    (*call)(events);
    return 0;
  }
  static int time(sd_event_source*, std::uint64_t, void* self) {
    const auto call = static_cast<Registration*>(self)->on_time;
    (*call)();
    return 0;
  }
  static int signal(sd_event_source*, const signalfd_siginfo* info, void* self) {
    const auto call = static_cast<Registration*>(self)->on_signal;
    (*call)(*info);
    return 0;
  }
};

Source::Source() = default;
Source::Source(std::unique_ptr<Registration> registration)
    : registration_(std::move(registration)) {}
Source::Source(Source&&) noexcept = default;
Source& Source::operator=(Source&&) noexcept = default;
Source::~Source() = default;

void Source::go_first() {
  PLIMSOLL_CHECK(sd_event_source_set_priority(registration_->source, SD_EVENT_PRIORITY_IMPORTANT) >=
                 0);
}

void Watch::wait_for(std::uint32_t events) {
  PLIMSOLL_CHECK(sd_event_source_set_io_events(registration_->source, events) >= 0);
}

void Timer::set(Instant when) {
  PLIMSOLL_CHECK(sd_event_source_set_time(registration_->source, microseconds(when)) >= 0);
  PLIMSOLL_CHECK(sd_event_source_set_enabled(registration_->source, SD_EVENT_ONESHOT) >= 0);
}

void Timer::off() {
  PLIMSOLL_CHECK(sd_event_source_set_enabled(registration_->source, SD_EVENT_OFF) >= 0);
}

// So long calls of other threads may take in one turn: a client may have made thousands, and
// whoever watches the loop expects a beat of it every 50 ms.
constexpr Duration kCallsTurn = std::chrono::milliseconds(20);

// What other threads have posted. It outlives the loop as long as somebody may still post.
class Loop::Inbox {
 public:
  Inbox() : wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}
  [[nodiscard]] int fd() const { return wake_.get(); }

  // The first in the list has woken the loop, which takes all that there are then.
  void post(std::function<void()> call) {
    bool is_first = false;
    {
      const std::scoped_lock lock(mutex_);
      if (is_closed_) return;
      is_first = calls_.empty();
      calls_.push_back(std::move(call));
    }
    if (is_first) wake();
  }

  // The loop has ended. Calls are destroyed here, as one may hold on to the inbox, and without the
  // lock, as one may post when it is destroyed.
  void close() {
    std::deque<std::function<void()>> unrun;
    const std::scoped_lock lock(mutex_);
    is_closed_ = true;
    unrun.swap(calls_);
  }

  // Those that are left come with the next turn, beside whatever else there is to do.
  void run_some() {
    std::uint64_t count = 0;
    [[maybe_unused]] const ssize_t got = ::read(wake_.get(), &count, sizeof count);
    const Instant until = now() + kCallsTurn;
    while (auto call = take()) {
      (*call)();
      if (now() < until) continue;
      wake();
      return;
    }
  }

 private:
  void wake() {
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t wrote = write_again(wake_.get(), &one, sizeof one);
  }

  std::optional<std::function<void()>> take() {
    const std::scoped_lock lock(mutex_);
    if (calls_.empty()) return std::nullopt;
    std::function<void()> call = std::move(calls_.front());
    calls_.pop_front();
    return call;
  }

  UniqueFd wake_;
  std::mutex mutex_;
  std::deque<std::function<void()>> calls_;
  bool is_closed_ = false;
};

Loop::Loop() = default;
Loop::Loop(Loop&&) noexcept = default;
Loop::~Loop() {
  if (inbox_) inbox_->close();
}

void Loop::EventUnref::operator()(sd_event* event) const { sd_event_unref(event); }

Result<Loop> Loop::create() {
  Loop made;
  sd_event* event = nullptr;
  if (const int code = sd_event_new(&event); code < 0) {
    return fail_code(code, "make an event loop");
  }
  made.event_.reset(event);
  made.inbox_ = std::make_shared<Inbox>();
  if (made.inbox_->fd() < 0) return fail_errno("make an eventfd");
  auto watch = made.watch(made.inbox_->fd(), EPOLLIN,
                          [inbox = made.inbox_.get()](std::uint32_t) { inbox->run_some(); });
  if (!watch) return pass(std::move(watch));
  made.inbox_watch_ = std::move(*watch);
  return made;
}

Result<Watch> Loop::watch(int fd, std::uint32_t events,
                          std::function<void(std::uint32_t)> callback) {
  auto registration = std::make_unique<Source::Registration>();
  registration->on_io = std::make_shared<std::function<void(std::uint32_t)>>(std::move(callback));
  const int code = sd_event_add_io(event_.get(), &registration->source, fd, events,
                                   &Source::Registration::io, registration.get());
  if (code < 0) return fail_code(code, "watch a descriptor");
  return Watch(std::move(registration));
}

Timer Loop::timer(std::function<void()> callback) {
  auto registration = std::make_unique<Source::Registration>();
  registration->on_time = std::make_shared<std::function<void()>>(std::move(callback));
  const int code =
      sd_event_add_time(event_.get(), &registration->source, CLOCK_MONOTONIC, 1, kTimerAccuracyUs,
                        &Source::Registration::time, registration.get());
  PLIMSOLL_CHECK(code >= 0);
  Timer timer(std::move(registration));
  timer.off();
  return timer;
}

Result<Source> Loop::signal(int number, std::function<void(const signalfd_siginfo&)> callback) {
  auto registration = std::make_unique<Source::Registration>();
  registration->on_signal =
      std::make_shared<std::function<void(const signalfd_siginfo&)>>(std::move(callback));
  const int code = sd_event_add_signal(event_.get(), &registration->source, number,
                                       &Source::Registration::signal, registration.get());
  if (code < 0) return fail_code(code, "receive signal " + std::to_string(number));
  return Source(std::move(registration));
}

std::function<void(std::function<void()>)> Loop::poster() const {
  return [inbox = inbox_](std::function<void()> call) { inbox->post(std::move(call)); };
}

Result<void> Loop::run_once(Duration timeout) {
  const auto us = std::chrono::ceil<std::chrono::microseconds>(timeout).count();
  // Asked of the duration itself: a negative one under a microsecond is rounded up to zero.
  const bool forever = timeout < Duration::zero();
  int code = sd_event_prepare(event_.get());
  if (code == 0) {
    code = sd_event_wait(event_.get(), forever ? UINT64_MAX : static_cast<std::uint64_t>(us));
  }
  if (code > 0) {
    const NoWaiting turn;
    const Instant begun = now();
    code = sd_event_dispatch(event_.get());
    longest_turn_ = std::max(longest_turn_, now() - begun);
  }
  if (code < 0 && code != -EINTR) return fail_code(code, "wait for events");
  return {};
}

Instant now() { return std::chrono::steady_clock::now(); }

Duration cpu_time() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

}  // namespace plimsoll::loop
