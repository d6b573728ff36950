#pragma once

#include <optional>

#include "kernel/counters/usage.h"
#include "report/json_text.h"

// The parts of a report that were measured, read back: what report/json.h writes. For
// recorded_job.cc and recorded_report.cc.
namespace plimsoll::report {

// One of `samples`.
counters::Sample read_sample(const Json& json);

// What a whole report says of its last attempt, as one sample at its end.
counters::Sample read_totals(const Json& report);

// One of `system_samples`; `at` is its `t_ns`.
counters::SystemSample read_system_sample(const Json& json);

// Nothing unless all ten are there.
std::optional<counters::SystemSample::Cpu> read_cpu_times(const Json& json);

}  // namespace plimsoll::report
