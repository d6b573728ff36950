#pragma once

#include "base/result.h"
#include "daemon/api/job_request.h"
#include "plimsoll/v1/jobs.pb.h"
#include "report/report.h"

// Messages of plimsoll.v1.Jobs as values, and back. Pure.
namespace plimsoll::daemon {

[[nodiscard]] v1::JobEvent message_of(const StateTold& told);
[[nodiscard]] v1::JobEvent message_of(OutputStream stream, std::string_view data);
[[nodiscard]] v1::JobEvent message_of(const report::JobReport& report);
[[nodiscard]] v1::ListResponse message_of(const std::vector<JobListed>& jobs);
[[nodiscard]] v1::ExplainResponse message_of(const JobStory& story);

}  // namespace plimsoll::daemon
