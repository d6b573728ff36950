#pragma once

#include <string>
#include <string_view>

#include "policy/job/event.h"
#include "policy/job/job.h"
#include "report/report.h"
#include "supervisor/control/run_status.h"

// What happens in a run as JSON lines, for `--progress json`: the schema `plimsoll.progress/1` of
// docs/formats/control.md. `at` counts from the run's start. Each ends with a newline.
namespace plimsoll::supervisor {

// `job`: the event's, if it has one.
[[nodiscard]] std::string progress_event(const policy::Event& event, const policy::JobSpec* job,
                                         Duration at);
[[nodiscard]] std::string progress_end(const policy::JobSpec& job, const report::JobReport& report,
                                       Duration at);
[[nodiscard]] std::string progress_status(const RunStatus& status, Duration at);
// What people should know, as a sentence.
[[nodiscard]] std::string progress_notice(std::string_view text, Duration at);

}  // namespace plimsoll::supervisor
