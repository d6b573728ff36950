#include "kernel/reap/reaper.h"

#include <fcntl.h>
#include <sys/epoll.h>

#include <utility>

#include "base/check.h"
#include "base/file.h"
#include "base/loop/loop.h"
#include "base/loop/worker.h"
#include "kernel/cgroup/processes.h"
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
  void go_on_looking(Instant now);
  void take(const Course::Next& next, Instant now);
  void wake(Instant now);
  void kill(Instant now);
  bool list_left();
  bool list_stuck(Instant now);
  void watch_events();
  void read_events();
  void set_timer(Instant now);
  void begin_removal(Instant now);
  void removal_ended(Result<cgroup::Removal> removal);
  void leave(Instant now);
  void finish(Instant now);

  loop::Loop& loop;
  loop::Worker& worker;
  std::shared_ptr<const cgroup::Group> group;
  ReaperOptions options;
  ReaperObserver& observer;
  cgroup::Kill killer;
  bool is_killing = false;    // a kill has begun, and goes on in the next turn of the loop
  bool is_held_back = false;  // the kills so far have waited for the freezer
  Instant look_again{};
  std::optional<Course> course;
  Reaped reaped;
  // Under way, over several turns of the loop: a job makes its tree as wide as it likes.
  std::optional<cgroup::OccupancyWalk> occupancy;
  std::optional<cgroup::MemberWalk> left_behind;  // before the first kill
  std::optional<cgroup::StuckWalk> stuck;         // for a report, or before it is left
  bool told_empty = false;
  std::optional<Error> trouble;
  UniqueFd events;  // cgroup.events; declared before its watch, which must go first
  loop::Watch watch;
  loop::Timer timer;
};

void Reaper::Impl::look(Instant now) {
  if (!occupancy) occupancy.emplace(*group, course->scope());
  go_on_looking(now);
}

void Reaper::Impl::go_on_looking(Instant now) {
  const auto seen = occupancy->step();
  if (!seen) return set_timer(now);
  occupancy.reset();
  // Unreadable is not empty: who can't be seen is not left alone.
  if (!*seen) trouble = seen->error();
  const bool empty = *seen && !**seen;
  take(course->looked(empty ? Occupancy::empty : Occupancy::populated, now), now);
}

void Reaper::Impl::take(const Course::Next& next, Instant now) {
  look_again = next.look_again;
  if (next.report_stuck) stuck.emplace(*group);
  switch (next.act) {
    case Course::Act::kill: kill(now); break;
    case Course::Act::remove: return begin_removal(now);
    case Course::Act::finish: return leave(now);
    case Course::Act::wait: break;
  }
  set_timer(now);
}

void Reaper::Impl::wake(Instant now) {
  if (stuck && list_stuck(now)) return;
  if (course->state() == State::left) return set_timer(now);
  if (occupancy) return go_on_looking(now);
  if (is_killing) {
    kill(now);
  } else if (now >= look_again) {
    return look(now);
  }
  set_timer(now);
}

// As much as one turn of the loop may take.
void Reaper::Impl::kill(Instant now) {
  using Did = cgroup::KillStep::Did;
  if (!std::exchange(reaped.killed, true)) {
    if (options.left_behind == LeftBehind::list) left_behind.emplace(*group, cgroup::kReportedMax);
    watch_events();
  }
  is_killing = true;
  if (left_behind && list_left()) return;
  cgroup::KillStep step = killer.step(*group, now);
  if (step.did == Did::under_way) return;
  is_killing = false;
  trouble = std::move(step.trouble);
  if (step.did == Did::freezing) {
    is_held_back = true;
  } else if (std::exchange(is_held_back, false)) {
    look_again = course->struck_late(now).look_again;
  }
}

// Returns whether any are left to be listed.
bool Reaper::Impl::list_left() {
  if (left_behind->step()) return true;
  reaped.left_behind = cgroup::left_processes(left_behind->pids());
  left_behind.reset();
  return false;
}

// Returns whether that was the last that is done to the group.
bool Reaper::Impl::list_stuck(Instant now) {
  if (stuck->step()) return false;
  std::vector<cgroup::StuckProcess> processes = stuck->take();
  stuck.reset();
  if (course->state() == State::left) {
    const auto self = shared_from_this();  // `gone` may destroy the reaper
    reaped.survivors = std::move(processes);
    finish(now);
    return true;
  }
  observer.on_stuck(
      {.since = now - course->begun(), .processes = std::move(processes), .trouble = trouble});
  return false;
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

void Reaper::Impl::set_timer(Instant now) {
  if (!timer) {
    timer = loop.timer([this] { wake(loop::now()); });
  }
  timer.set(is_killing || occupancy || stuck ? now : look_again);
}

void Reaper::Impl::begin_removal(Instant now) {
  watch = {};
  events = {};
  stuck.reset();
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
  stuck.emplace(*group);
  set_timer(now);
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
