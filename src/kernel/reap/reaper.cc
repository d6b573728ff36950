#include "kernel/reap/reaper.h"

#include <fcntl.h>
#include <sys/epoll.h>

#include <utility>

#include "base/check.h"
#include "base/file.h"
#include "base/loop/loop.h"
#include "base/loop/worker.h"
#include "kernel/cgroup/remove.h"

namespace plimsoll::reap {

// Shared with the removal that the worker carries out, which holds it weakly: the reaper may be
// destroyed meanwhile.
struct Reaper::Impl : std::enable_shared_from_this<Impl> {
  Impl(loop::Loop& with_loop, loop::Worker& with_worker,
       std::shared_ptr<const cgroup::Group> of_group, ReaperOptions with, ReaperObserver& to)
      : loop(with_loop),
        worker(with_worker),
        group(std::move(of_group)),
        options(with),
        observer(to),
        killer(with.way) {}

  void look(Instant now);
  void take(const Course::Next& next, Instant now);
  cgroup::KillStep::Did kill_once(Instant now);
  void watch_events();
  void read_events();
  void wait_until(Instant when);
  void begin_removal(Instant now);
  void removal_ended(Result<cgroup::Removal> removal);
  void leave(Instant now);
  void finish(Instant now);
  void report_stuck(Instant now);

  loop::Loop& loop;
  loop::Worker& worker;
  std::shared_ptr<const cgroup::Group> group;
  ReaperOptions options;
  ReaperObserver& observer;
  cgroup::Kill killer;
  cgroup::KillStep::Did last_did = cgroup::KillStep::Did::signalled;
  std::optional<Course> course;
  Reaped reaped;
  bool told_empty = false;
  std::optional<Error> trouble;
  UniqueFd events;  // cgroup.events; declared before its watch, which must go first
  loop::Watch watch;
  loop::Timer timer;
};

void Reaper::Impl::look(Instant now) {
  const auto seen = cgroup::populated(*group, course->scope());
  // Unreadable is not empty: who can't be seen is not left alone.
  if (!seen) trouble = seen.error();
  const bool empty = seen && !*seen;
  take(course->looked(empty ? Occupancy::empty : Occupancy::populated, now), now);
}

void Reaper::Impl::take(const Course::Next& next, Instant now) {
  using Did = cgroup::KillStep::Did;
  Instant look_again = next.look_again;
  switch (next.act) {
    case Course::Act::kill: {
      const Did before = std::exchange(last_did, kill_once(now));
      if (before == Did::freezing && last_did != Did::freezing) {
        look_again = course->struck_late(now).look_again;
      }
      break;
    }
    case Course::Act::remove: return begin_removal(now);
    case Course::Act::finish: return leave(now);
    case Course::Act::wait: break;
  }
  wait_until(look_again);
  if (next.report_stuck) report_stuck(now);
}

cgroup::KillStep::Did Reaper::Impl::kill_once(Instant now) {
  if (!reaped.killed) {
    reaped.killed = true;
    if (options.left_behind == LeftBehind::list) {
      reaped.left_behind = cgroup::left_processes(*group);
    }
    watch_events();
  }
  cgroup::KillStep step = killer.step(*group, now);
  trouble = std::move(step.trouble);
  return step.did;
}

void Reaper::Impl::watch_events() {
  if (group->v2() == nullptr) return;
  auto file = group->v2()->open_file("cgroup.events", O_RDONLY);
  if (!file) return;
  auto made = loop.watch(file->get(), EPOLLPRI, [this](std::uint32_t) {
    read_events();
    look(loop::now());
  });
  if (!made) return;  // the timer does without it, later
  events = std::move(*file);
  watch = std::move(*made);
  read_events();
}

// Only a read makes the kernel wait for the next change.
void Reaper::Impl::read_events() {
  std::string text;
  if (read_text_into(events.get(), text)) return;
  watch = {};  // gone: from now on it would always be ready
}

void Reaper::Impl::wait_until(Instant when) {
  if (!timer) {
    timer = loop.timer([this] { look(loop::now()); });
  }
  timer.set(when);
}

void Reaper::Impl::begin_removal(Instant now) {
  watch = {};
  events = {};
  if (timer) timer.off();
  if (!std::exchange(told_empty, true)) {
    reaped.until_empty = now - course->begun();
    observer.on_empty();
  }
  auto result = std::make_shared<Result<cgroup::Removal>>(cgroup::Removal::busy);
  worker.submit([result, held = group] { *result = cgroup::remove_group(*held); },
                [result, weak = weak_from_this()] {
                  if (const auto self = weak.lock()) self->removal_ended(std::move(*result));
                });
}

void Reaper::Impl::removal_ended(Result<cgroup::Removal> removal) {
  const Instant now = loop::now();
  if (removal) {
    trouble.reset();
  } else {
    trouble = removal.error();
  }
  const bool denied = trouble && cgroup::is_final(*trouble);
  const Course::Next next =
      denied ? course->denied() : course->removed(removal.value_or(cgroup::Removal::busy), now);
  if (next.act != Course::Act::finish) return take(next, now);
  finish(now);
}

// With somebody in it.
void Reaper::Impl::leave(Instant now) {
  const auto self = shared_from_this();  // `gone` may destroy the reaper
  if (told_empty) return finish(now);
  watch = {};
  events = {};
  reaped.survivors = cgroup::stuck_processes(*group);
  finish(now);
}

void Reaper::Impl::finish(Instant now) {
  timer = {};
  if (course->state() == State::left && told_empty) {
    reaped.left = trouble.value_or(
        Error{std::errc::device_or_resource_busy, "remove the group " + group->name()});
  }
  reaped.until_gone = now - course->begun();
  observer.on_gone(reaped);
}

void Reaper::Impl::report_stuck(Instant now) {
  observer.on_stuck({.since = now - course->begun(),
                     .processes = cgroup::stuck_processes(*group),
                     .trouble = trouble});
}

Reaper::Reaper(loop::Loop& loop, loop::Worker& worker, std::shared_ptr<const cgroup::Group> group,
               ReaperOptions options, ReaperObserver& observer)
    : impl_(std::make_shared<Impl>(loop, worker, std::move(group), options, observer)) {}
Reaper::Reaper(Reaper&&) noexcept = default;
Reaper& Reaper::operator=(Reaper&&) noexcept = default;
Reaper::~Reaper() = default;

void Reaper::start() {
  PLIMSOLL_CHECK(!impl_->course);
  const Instant now = loop::now();
  impl_->course.emplace(now);
  impl_->look(now);
}

void Reaper::give_up() {
  if (impl_->course) impl_->course->give_up();
}

State Reaper::state() const { return impl_->course ? impl_->course->state() : State::live; }

}  // namespace plimsoll::reap
