#include "supervisor/reporting.h"

#include <unistd.h>

#include <array>
#include <climits>

#include "base/quantity.h"
#include "policy/job/priority.h"
#include "supervisor/environment.h"

#include "report/plain.h"

namespace plimsoll::supervisor {
namespace {

std::string current_directory() {
  std::array<char, PATH_MAX> path{};
  return ::getcwd(path.data(), path.size()) == nullptr ? std::string() : path.data();
}

}  // namespace

AttemptRequest request_for(const policy::JobSpec& job, const std::string& group,
                           const std::optional<Account>& user) {
  AttemptRequest request;
  request.group = group;
  request.limits = policy::weighted_limits(job);
  request.timeout = job.timeout;
  request.spawn.cwd = job.cwd;
  request.spawn.env =
      user && user->is_another() ? environment_of(*user, job.env) : environment_with(job.env);
  if (user) request.spawn.identity = user->identity;
  if (const auto* shell = std::get_if<std::string>(&job.command)) {
    request.spawn.argv = {"/bin/sh", "-c", *shell};
  } else {
    request.spawn.argv = std::get<Words>(job.command);
  }
  return request;
}

report::AttemptReport short_report_of(const AttemptResult& result) {
  report::AttemptReport report;
  report.outcome = result.end.outcome;
  report.started = result.started;
  report.wall = result.end.wall;
  report.cpu_usage = result.usage.totals.cpu.usage;
  report.peak = result.usage.totals.memory.peak;
  report.oom = result.oom;
  return report;
}

report::JobReport report_of(const JobEnd& end, const report::HostInfo& host) {
  report::JobReport report;
  report.id = end.job.name;
  report.number = static_cast<std::uint64_t>(end.job.id);
  report.job_class = end.job.job_class;
  report.command = end.job.command;
  report.cwd = end.job.cwd.empty() ? current_directory() : end.job.cwd;
  report.needs = end.needs;
  report.priority = end.job.priority;
  report.outcome = end.outcome;
  report.reason = end.reason;
  report.attempts = end.attempts;
  report.times.queued = end.queued;
  report.times.held = end.held;
  report.machine = end.machine;
  report.host = host;
  if (end.last == nullptr) return report;
  report.exit_code = end.last->end.exit_code;
  report.signal = end.last->end.signal;
  report.left_behind = end.last->left_behind;
  report.ipc_left = end.last->ipc_left;
  report.oom = end.last->oom;
  report.times.started = end.last->started;
  report.times.ended = end.last->ended;
  report.times.wall = end.last->end.wall;
  report.times.paused = end.paused;
  report.usage = end.last->usage;
  report.rusage = end.last->rusage;
  return report;
}

report::MonitorReport report_of(const monitor::Status& status) {
  return {.name = status.name, .why = status.why, .health = status.health};
}

std::string text_of(const monitor::Status& status) {
  return "memory monitor \"" + status.name + "\" " + status.health +
         (status.works ? "; it now uses: " + status.why : "; sampling continues without it");
}

std::string left_text(Bytes left) {
  return "left " + format_bytes(left) +
         " of shared memory (files in /dev/shm or another tmpfs), which takes room below the line "
         "until the files are deleted";
}

std::string ipc_text(const std::vector<report::IpcLeft>& objects) {
  std::string text = "left";
  bool all_removed = true;
  for (const report::IpcLeft& left : objects) {
    text +=
        (&left == &objects.front() ? " " : ", ") + left.kind + " " + report::printable(left.name);
    if (left.size) text += " (" + format_bytes(*left.size) + ")";
    all_removed = all_removed && left.fate == report::IpcFate::removed;
  }
  return text + (all_removed ? ", which was removed" : ", which stays until ipcrm(1) removes it");
}

std::string got_away_text(const std::vector<report::LeftBehind>& processes) {
  constexpr std::size_t kNamedMax = 4;  // the report has them all
  std::string text;
  std::size_t count = 0;
  for (const report::LeftBehind& process : processes) {
    if (process.fate == report::LeftFate::killed || ++count > kNamedMax) continue;
    text +=
        (text.empty() ? "process " : "; process ") + std::to_string(process.pid) + " (" +
        report::printable(process.comm) + ") " +
        (process.fate == report::LeftFate::lives ? "could not be killed, and is left"
                                                 : "had left the group of its job and was killed");
  }
  if (count > kNamedMax) text += "; and " + std::to_string(count - kNamedMax) + " more";
  return text;
}

std::string stuck_text(const reap::Stuck& stuck) {
  const std::string why = stuck.trouble ? ": " + stuck.trouble->message() : std::string();
  if (!stuck.processes.empty()) {
    return "killed processes are still alive after " + format_duration(stuck.since) + why;
  }
  return "it has ended, but the kernel has not released its cgroup for " +
         format_duration(stuck.since) + why + "; Ctrl-C stops waiting";
}

std::string left_group_text(const Error& why) {
  return "an empty cgroup is left behind: " + why.message() + "; try `plimsoll reap` on it later";
}

}  // namespace plimsoll::supervisor
