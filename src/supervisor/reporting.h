#pragma once

#include <vector>

#include "kernel/monitor/monitor_slot.h"
#include "policy/job/job.h"
#include "report/report.h"
#include "supervisor/attempt.h"
#include "supervisor/identity.h"

namespace plimsoll::supervisor {

// The request for one attempt of a job: its command as an argv, its environment, directory, user
// and limits. `user` is the job's, resolved; nothing: Plimsoll's own.
AttemptRequest request_for(const policy::JobSpec& job, const std::string& group,
                           const std::optional<Account>& user);

// The report of a job from its attempts, in order; none for a job that was skipped.
struct JobEnd {
  const policy::JobSpec& job;
  WallTime queued{};
  Duration held{}, paused{};  // over all attempts
  std::vector<report::AttemptReport> attempts;
  const AttemptResult* last = nullptr;
  policy::Outcome outcome{};
  std::string reason;
  std::optional<counters::MachineUsage> machine;
  std::vector<std::string> needs{};  // the ids of job.needs
};
report::JobReport report_of(const JobEnd& end, const report::HostInfo& host);

report::AttemptReport short_report_of(const AttemptResult& result);

report::MonitorReport report_of(const monitor::Status& status);
// For people: a monitor has failed and how it goes on; what a job has left in shared memory.
std::string text_of(const monitor::Status& status);
std::string left_text(Bytes left);
// What a job has left of System V IPC and POSIX message queues; not empty.
std::string ipc_text(const std::vector<report::IpcLeft>& objects);
// Who of those that a job has left behind had left its group or could not be killed; empty if it is
// nobody.
std::string got_away_text(const std::vector<report::LeftBehind>& processes);
// What a job's end waits for, and since when; a group that was given up
// (AttemptResult::group_left).
std::string stuck_text(const reap::Stuck& stuck);
std::string left_group_text(const Error& why);

}  // namespace plimsoll::supervisor
