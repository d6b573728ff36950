#pragma once

#include "base/units.h"
#include "measure/usage.h"
#include "record/json_text.h"

// The parts of a report that were measured, as JSON. For json.cc alone.
namespace plimsoll::record {

// `cpu`, `memory`, `io`, `pids`, `network` and `samples` of an attempt.
void put_usage(Json& report, const measure::JobUsage& usage);

Json machine_json(const measure::MachineUsage& machine);

// `run_started` is what `t_ns` counts from.
Json system_sample_json(const measure::SystemSample& sample, Instant run_started);

}  // namespace plimsoll::record
