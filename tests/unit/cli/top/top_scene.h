#pragma once

#include <string>
#include <utility>

#include "cli/top/layout.h"
#include "cli/top/model.h"

// Runs and jobs to be shown.
namespace plimsoll::cli::top {

using namespace plimsoll::literals;
using namespace std::chrono_literals;

inline constexpr Instant kStart{100s};

inline supervisor::RunningJob running_job(unsigned number, Bytes used) {
  supervisor::RunningJob job;
  job.job = JobId{number};
  job.name = std::to_string(number);
  job.command = "work " + job.name;
  job.used = used;
  job.estimate = used + used;
  job.cores = 0.5;
  job.growth = 0;
  job.ran = std::chrono::seconds(100 - number);
  return job;
}

inline supervisor::RunningJob paused_job(unsigned number, policy::PauseCause cause) {
  auto job = running_job(number, 10_MiB);
  job.state = policy::JobState::frozen;
  job.paused_for = cause;
  job.reason = "it grows by 48.6 MiB a second, and the line is near";
  return job;
}

inline supervisor::RunStatus status_with(std::vector<supervisor::RunningJob> jobs) {
  supervisor::RunStatus status;
  status.run = "20261125-094358-0000abcd";
  status.elapsed = 151s;
  status.jobs.total = jobs.size();
  status.jobs.running = jobs.size();
  status.line = 1_GiB;
  status.used = 948_MiB;
  status.estimate = 1300_MiB;
  status.cores = 2;
  status.cores_used = 0.6;
  status.cores_wanted = 3.5;
  status.stall = {.cpu_some = 0.5, .memory_full = 0.015, .io_full = {}};
  status.running = std::move(jobs);
  return status;
}

inline Key typed(std::string text) { return {.name = KeyName::text, .text = std::move(text)}; }

inline std::string text_of(const Frame& frame) {
  std::string text;
  for (const Line& line : frame.lines) text += text_of(line) + "\n";
  return text;
}

}  // namespace plimsoll::cli::top
