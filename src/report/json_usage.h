#pragma once

#include "base/units.h"
#include "kernel/counters/usage.h"
#include "report/json_text.h"

// What was measured, as JSON; what was not is left out. For json.h.
namespace plimsoll::report {

// Sets `cpu`, `memory`, `io`, `pids`, `network` and `samples` of an attempt.
void put_usage(Json& report, const counters::JobUsage& usage);

[[nodiscard]] Json machine_json(const counters::MachineUsage& machine);

// `run_started` is what `t_ns` counts from.
[[nodiscard]] Json system_sample_json(const counters::SystemSample& sample, Instant run_started);

}  // namespace plimsoll::report
