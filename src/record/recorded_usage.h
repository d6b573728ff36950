#pragma once

#include <optional>

#include "measure/usage.h"
#include "record/json_text.h"

// The parts of a report that were measured, read back: what json_usage.h writes. For
// recorded_job.cc and recorded_report.cc.
namespace plimsoll::record {

// One of `samples`.
measure::Sample read_sample(const Json& json);

// What a whole report says of its last attempt, as one sample at its end.
measure::Sample read_totals(const Json& report);

// One of `system_samples`; `at` is its `t_ns`.
measure::SystemSample read_system_sample(const Json& json);

// Nothing unless all ten are there.
std::optional<measure::SystemSample::Cpu> read_cpu_times(const Json& json);

}  // namespace plimsoll::record
