#include "kernel/monitor/pool_events.h"

#include <fcntl.h>
#include <sys/epoll.h>

#include "base/file.h"
#include "kernel/counters/parse_memory.h"

namespace plimsoll::monitor {
namespace {

constexpr const char* kOwnEvents = "memory.events.local";
constexpr const char* kAllEvents = "memory.events";

}  // namespace

Result<std::unique_ptr<Monitor>> PoolEvents::make(loop::Loop& loop, const cgroup::Directory& memory,
                                                  MonitorOwner& owner) {
  const char* const name = memory.has_file(kOwnEvents) ? kOwnEvents : kAllEvents;
  auto file = memory.open_file(name, O_RDONLY);
  if (!file) return pass(std::move(file));
  std::unique_ptr<PoolEvents> made(new PoolEvents(std::move(*file), owner));
  auto counted = made->read();
  if (!counted) return pass(std::move(counted));
  made->counted_ = *counted;
  // Level triggered: a count that rises while one is being handled is told by the next turn.
  auto watch = loop.watch(made->file_.get(), EPOLLPRI,
                          [self = made.get()](std::uint32_t) { self->on_event(); });
  if (!watch) return pass(std::move(watch));
  watch->go_first();
  made->watch_ = std::move(*watch);
  return made;
}

Result<counters::MemoryEvents> PoolEvents::read() {
  auto text = read_text_into(file_.get(), buffer_);
  if (!text) return pass(std::move(text), "read the memory events of the pool");
  return counters::parse_memory_events(*text);
}

// EPOLLERR comes with every event of these files and means nothing; a pool that is gone is told by
// the read.
void PoolEvents::on_event() {
  auto now = read();
  if (!now) {
    watch_ = {};
    return owner_.failed(now.error());
  }
  const auto rise = rise_between(std::exchange(counted_, *now), *now);
  if (!rise) return;
  risen_.high += rise->high;
  risen_.max += rise->max;
  risen_.oom += rise->oom;
  owner_.wake();
}

std::optional<Alarm> PoolEvents::observe(const Reading& reading) {
  // The removal of a group wakes nobody who waits for its events.
  if (!reading.used && watch_) on_event();
  const MemoryEventsDelta risen = std::exchange(risen_, {});
  return risen == MemoryEventsDelta{} ? std::nullopt : alarm_of(risen, reading);
}

}  // namespace plimsoll::monitor
