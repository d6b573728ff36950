#include "kernel/monitor/watcher.h"

#include <algorithm>

namespace plimsoll::monitor {
namespace {

MonitorSlot post_of(std::string name, Choice choice, SlotOwner& owner) {
  return {std::move(name), std::move(choice.candidates), std::move(choice.nobody), owner};
}

}  // namespace

Watcher::Watcher(const Surroundings& around, WatcherHost& host)
    : host_(host),
      sample_timer_(around.loop.timer([this] { look(); })),
      repair_timer_(around.loop.timer([this] { repair(); })),
      event_(post_of("event", choose_event(around), *this)),
      pressure_(post_of("pressure", choose_pressure(around), *this)) {
  sample_timer_.go_first();
}

void Watcher::start() {
  if (std::exchange(is_running_, true)) return;
  sample_timer_.set(due_ = loop::now() + gap_);
}

void Watcher::stop() {
  is_running_ = false;
  sample_timer_.off();
}

void Watcher::sample_soon() {
  if (is_running_) sample_timer_.set(due_ = loop::now());
}

void Watcher::wake() {
  was_woken_ = true;
  if (!is_running_) return;
  if (loop::now() >= earliest_) {
    look();
  } else {
    sample_timer_.set(std::min(due_, earliest_));
  }
}

void Watcher::tell(const std::optional<Alarm>& alarm) {
  if (alarm) host_.on_memory_alarm(*alarm);
}

void Watcher::look() {
  ++looks_;
  const Duration before = loop::cpu_time();
  const Cause cause = std::exchange(was_woken_, false) ? Cause::event : Cause::poll;
  seen_ = host_.look();
  if (!seen_.used) was_blind_ = true;
  tell(event_.observe(seen_));
  tell(pressure_.observe(seen_));
  tell(level_.observe(seen_, pace_.growth()));
  host_.decide(cause);

  const Instant done = loop::now();
  gap_ = gap_after(loop::cpu_time() - before);
  if (is_near(seen_)) {
    quiet_ = kQuietMin;
  } else {
    quiet_ = std::clamp(cause == Cause::event ? quiet_ * 2 : quiet_ / 2, kQuietMin, kQuietMax);
  }
  earliest_ = done + quiet_;
  due_ = done + gap_;
  if (is_running_) sample_timer_.set(due_);
}

Duration Watcher::gap_after(Duration cost) {
  const Backing backing = event_.is_held() ? Backing::event : Backing::none;
  return std::min({pace_.after(seen_, cost, backing), event_.gap_max(), pressure_.gap_max()});
}

void Watcher::repair() {
  const Instant now = loop::now();
  for (MonitorSlot* post : {&event_, &pressure_}) {
    if (post->repair(now)) host_.on_weakened(post->status());
  }
  // What the failed one may have missed.
  wake();
}

std::vector<Status> Watcher::status() const {
  Status threshold{.name = "threshold",
                   .why = "looks at the pool and the machine, by what is left and how it grows",
                   .health = "working",
                   .works = true};
  if (was_blind_) {
    threshold.health =
        "replaced: the memory of the pool could not be read; the sum of its jobs stands in";
  }
  return {event_.status(), pressure_.status(), std::move(threshold)};
}

}  // namespace plimsoll::monitor
