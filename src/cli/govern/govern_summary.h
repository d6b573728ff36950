#pragma once

#include <string>

#include "govern/govern_run.h"
#include "report/summary.h"
#include "report/top_jobs.h"

namespace plimsoll::cli {

// How the command ended: "exited with code 0".
[[nodiscard]] std::string outcome_text(const supervisor::AttemptResult& ended);

// What `plimsoll govern` prints at the end of a command whose steps were governed: the heaviest of
// them, how the command ended, what the governor did.
[[nodiscard]] std::string govern_summary(const govern::GovernEnd& end,
                                         const report::TopJobs& top_jobs, report::TextStyle style);

}  // namespace plimsoll::cli
