#include "kernel/monitor/usage_thresholds.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>

#include "base/file.h"

namespace plimsoll::monitor {

std::optional<Thresholds> thresholds_for(const Reading& reading) {
  if (!reading.used || !reading.charged) return std::nullopt;
  const Bytes droppable = *reading.charged - *reading.used;
  const Bytes line = reading.bounds.line;
  return Thresholds{line - near_margin(line) + droppable, line + droppable};
}

bool are_misplaced(const Thresholds& now, const Thresholds& wanted, Bytes line) {
  const Bytes off = std::max(now[0] - wanted[0], wanted[0] - now[0]);
  return off.count > line.count / kMisplacedParts;
}

// What the worker does: all of it its own, as the monitor may be gone by then.
struct UsageThresholds::Arming {
  std::shared_ptr<const UniqueFd> usage, control;
  Thresholds thresholds;
  Events events;
  Result<void> done{};

  void set_all() {
    for (std::size_t i = 0; i < events.size() && done; ++i) {
      events[i] = UniqueFd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
      if (!events[i]) done = fail_errno("make an eventfd");
      if (!done) return;
      const std::string text = std::to_string(events[i].get()) + " " +
                               std::to_string(usage->get()) + " " +
                               std::to_string(thresholds[i].count);
      done = write_text(control->get(), text);
      if (!done) done = pass(std::move(done), "set a threshold of the pool's usage");
    }
  }
};

Result<std::unique_ptr<Monitor>> UsageThresholds::make(loop::Loop& loop, loop::Worker& worker,
                                                       const cgroup::Directory& memory,
                                                       MonitorOwner& owner) {
  auto usage = memory.open_file("memory.usage_in_bytes", O_RDONLY);
  if (!usage) return pass(std::move(usage));
  auto control = memory.open_file("cgroup.event_control", O_WRONLY);
  if (!control) return pass(std::move(control));
  std::unique_ptr<UsageThresholds> made(new UsageThresholds(loop, worker, owner));
  made->usage_ = std::make_shared<UniqueFd>(std::move(*usage));
  made->control_ = std::make_shared<UniqueFd>(std::move(*control));
  made->self_ = std::shared_ptr<UsageThresholds*>(new UsageThresholds*(made.get()));
  return made;
}

std::optional<Alarm> UsageThresholds::observe(const Reading& reading) {
  const auto wanted = thresholds_for(reading);
  if (!wanted || is_arming_) return std::nullopt;
  const Bytes line = reading.bounds.line;
  const bool is_settled =
      armed_ && armed_for_ == line &&
      (reading.at - armed_at_ < kRearmGap || !are_misplaced(*armed_, *wanted, line));
  if (!is_settled) {
    armed_for_ = line;
    arm(*wanted, reading.at);
  }
  // What is wrong shows in the reading itself.
  return std::nullopt;
}

void UsageThresholds::arm(const Thresholds& wanted, Instant now) {
  is_arming_ = true;
  armed_at_ = now;
  auto arming = std::make_shared<Arming>(Arming{usage_, control_, wanted, {}});
  worker_.submit([arming] { arming->set_all(); },
                 [arming, alive = std::weak_ptr(self_)] {
                   if (const auto self = alive.lock()) (*self)->take(*arming);
                 });
}

// The old thresholds stand until the new ones do. Memory may have passed these meanwhile.
void UsageThresholds::take(Arming& arming) {
  is_arming_ = false;
  if (!arming.done) return fail(arming.done.error());
  watches_ = {};
  events_ = std::move(arming.events);
  armed_ = arming.thresholds;
  for (std::size_t i = 0; i < events_.size(); ++i) {
    auto watch = loop_.watch(events_[i].get(), EPOLLIN,
                             [this, fd = events_[i].get()](std::uint32_t) { on_event(fd); });
    if (!watch) return fail(watch.error());
    watch->go_first();
    watches_[i] = std::move(*watch);
  }
  owner_.wake();
}

// A pool that is removed fires them once more.
void UsageThresholds::on_event(int event) {
  std::uint64_t fired = 0;
  [[maybe_unused]] const ssize_t got = ::read(event, &fired, sizeof fired);
  char digit = 0;
  if (::pread(usage_->get(), &digit, 1, 0) < 0) {
    return fail({.code = static_cast<std::errc>(errno), .what = "read the usage of the pool"});
  }
  owner_.wake();
}

void UsageThresholds::fail(const Error& error) {
  watches_ = {};
  owner_.failed(error);
}

}  // namespace plimsoll::monitor
