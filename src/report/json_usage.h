#pragma once

#include "base/units.h"
#include "kernel/counters/usage.h"
#include "report/json_text.h"

// The parts of a report that were measured, as JSON. For json.cc alone.
namespace plimsoll::report {

// `cpu`, `memory`, `io`, `pids`, `network` and `samples` of an attempt.
void put_usage(Json& report, const counters::JobUsage& usage);

Json machine_json(const counters::MachineUsage& machine);

// `run_started` is what `t_ns` counts from.
Json system_sample_json(const counters::SystemSample& sample, Instant run_started);

}  // namespace plimsoll::report
