#include "kernel/monitor/pressure_trigger.h"

#include <fcntl.h>
#include <sys/epoll.h>

#include "base/file.h"
#include "base/quantity.h"

namespace plimsoll::monitor {
namespace {

std::string trigger_text(Duration window) {
  using std::chrono::microseconds;
  const auto whole = std::chrono::duration_cast<microseconds>(window).count();
  const auto stall = static_cast<std::int64_t>(static_cast<double>(whole) * kStallShare);
  return "some " + std::to_string(stall) + " " + std::to_string(whole) + "\n";
}

}  // namespace

Result<std::unique_ptr<Monitor>> PressureTrigger::watch(loop::Loop& loop, UniqueFd file,
                                                        Duration window, MonitorOwner& owner) {
  std::unique_ptr<PressureTrigger> made(new PressureTrigger(std::move(file), window, owner));
  auto watch = loop.watch(made->file_.get(), EPOLLPRI,
                          [self = made.get()](std::uint32_t events) { self->on_event(events); });
  if (!watch) return pass(std::move(watch));
  watch->go_first();
  made->watch_ = std::move(*watch);
  return made;
}

Result<std::unique_ptr<Monitor>> PressureTrigger::make(loop::Loop& loop,
                                                       const cgroup::Directory& v2,
                                                       MonitorOwner& owner) {
  Result<void> set{};
  for (const Duration window : kTriggerWindows) {
    // One trigger for each open file, and none after one that was refused.
    auto file = v2.open_file("memory.pressure", O_RDWR | O_NONBLOCK);
    if (!file) return pass(std::move(file));
    set = write_text(file->get(), trigger_text(window));
    if (set) return watch(loop, std::move(*file), window, owner);
  }
  return fail(set.error().code, "set a trigger of less than 2 s on memory.pressure of the pool");
}

// Unlike with other files, EPOLLERR on a trigger means that the group is gone.
void PressureTrigger::on_event(std::uint32_t events) {
  if ((events & EPOLLERR) != 0) {
    watch_ = {};
    return owner_.failed({.code = std::errc::no_such_device, .what = "watch memory.pressure"});
  }
  fired_ = true;
  owner_.wake();
}

std::optional<Alarm> PressureTrigger::observe(const Reading& reading) {
  if (!std::exchange(fired_, false)) return std::nullopt;
  const auto before = std::exchange(last_, reading.at);
  if (before && reading.at - *before < kTriggerQuiet) return std::nullopt;
  const Duration stalled(
      static_cast<std::int64_t>(static_cast<double>(window_.count()) * kStallShare));
  return Alarm{.monitor = "pressure",
               .reason = "somebody waited for memory for " + format_duration(stalled) + " of " +
                         format_duration(window_),
               .numbers = {{"stalled_s", to_seconds(stalled)}, {"within_s", to_seconds(window_)}}};
}

}  // namespace plimsoll::monitor
