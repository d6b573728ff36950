#pragma once

#include <memory>
#include <string>

#include "base/loop/loop.h"
#include "base/unique_fd.h"
#include "kernel/cgroup/directory.h"
#include "kernel/monitor/alarms.h"
#include "kernel/monitor/monitor.h"

namespace plimsoll::monitor {

// Watches memory.events of a v2 pool by poll(2) on the open file, which the kernel wakes when a
// count rises, no oftener than each 10 ms. What was counted before does not matter.
class PoolEvents final : public Monitor {
 public:
  // Of `memory` without its children if the kernel counts so (memory.events.local, since 5.2): a
  // job that meets a limit of its own is nobody else's trouble.
  static Result<std::unique_ptr<Monitor>> make(loop::Loop& loop, const cgroup::Directory& memory,
                                               MonitorOwner& owner);

  std::optional<Alarm> observe(const Reading& reading) override;

 private:
  PoolEvents(UniqueFd file, MonitorOwner& owner) : file_(std::move(file)), owner_(owner) {}
  void on_event();
  Result<counters::MemoryEvents> read();

  UniqueFd file_;
  MonitorOwner& owner_;
  std::string buffer_;
  counters::MemoryEvents counted_;
  MemoryEventsDelta risen_;  // since the last look
  loop::Watch watch_;
};

}  // namespace plimsoll::monitor
