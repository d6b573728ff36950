// A batch and its wall: what is told of it, and how the terminal stops the run.
#include "kernel/counters/parse_pressure.h"
#include "supervisor/batch_run.h"

namespace plimsoll::supervisor {

void BatchRun::account_pool_limits() {
  const PoolLimits& wall = host_scheduler_.wall();
  if (!wall.limits()) {
    summary_.unavailable.emplace("wall", wall.why_not());
    return;
  }
  summary_.wall = report::PoolLimitsReport{.high = wall.limits()->high,
                                           .max = wall.limits()->max,
                                           .stalls = wall.stalls().count,
                                           .stalled = wall.stalls().time,
                                           .pressure = {}};
  const cgroup::Directory* pool = supervisor_.pool().v2();
  if (pool == nullptr) return;
  if (const auto text = pool->read("memory.pressure")) {
    const counters::Pressure pressure = counters::parse_pressure(*text);
    if (pressure.some) summary_.wall->pressure.some = pressure.some->total;
    if (pressure.full) summary_.wall->pressure.full = pressure.full->total;
  }
}

// The jobs have sessions of their own, which the terminal's stop does not reach.
void BatchRun::pause_all() {
  if (!std::exchange(is_stopped_, true)) host_scheduler_.suspend_all();
  guardian_watch_.pause();
  if (observer_.stopping) observer_.stopping();
  supervisor_.stop_guardian();
}

void BatchRun::resume_all() {
  if (!std::exchange(is_stopped_, false)) return;
  guardian_watch_.resume();
  host_scheduler_.resume_all();
  if (observer_.resumed) observer_.resumed();
}

}  // namespace plimsoll::supervisor
