// A batch and its wall: what is told of it, and how the terminal stops the run.
#include "kernel/counters/parse_pressure.h"
#include "supervisor/batch.h"

namespace plimsoll::supervisor {

void Batch::account_wall() {
  const Wall& wall = crew_.wall();
  if (!wall.limits()) {
    summary_.unavailable.emplace("wall", wall.why_not());
    return;
  }
  summary_.wall = report::WallReport{.high = wall.limits()->high,
                                     .max = wall.limits()->max,
                                     .stalls = wall.stalls().count,
                                     .stalled = wall.stalls().time,
                                     .pressure = {}};
  const cgroup::Directory* pool = machine_.pool().v2();
  if (pool == nullptr) return;
  if (const auto text = pool->read("memory.pressure")) {
    const counters::Pressure pressure = counters::parse_pressure(*text);
    if (pressure.some) summary_.wall->pressure.some = pressure.some->total;
    if (pressure.full) summary_.wall->pressure.full = pressure.full->total;
  }
}

// The jobs have sessions of their own, which the terminal's stop does not reach.
void Batch::pause_all() {
  if (!std::exchange(is_stopped_, true)) crew_.suspend_all();
  guardian_watch_.pause();
  if (observer_.stopping) observer_.stopping();
  machine_.stop_guardian();
}

void Batch::resume_all() {
  if (!std::exchange(is_stopped_, false)) return;
  guardian_watch_.resume();
  crew_.resume_all();
  if (observer_.resumed) observer_.resumed();
}

}  // namespace plimsoll::supervisor
