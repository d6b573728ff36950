#include "cli/command/process_mode.h"

#include "base/text.h"
#include "cli/command/diagnostics.h"

namespace plimsoll::cli {
namespace {

// The option of the first limit that is set; null if none is.
const char* first_limit(const Limits& limits) {
  if (limits.memory_max) return "--memory-max";
  if (limits.memory_high) return "--memory-high";
  if (limits.swap_max) return "--swap-max";
  if (limits.cpus) return "--cpus";
  if (limits.cpuset) return "--cpuset";
  if (limits.cpu_weight) return "--cpu-weight";
  if (limits.io_weight) return "--io-weight";
  if (!limits.io_max.empty()) return "--io-max";
  if (limits.pids_max) return "--pids-max";
  return nullptr;
}

const char* lacks(Governed what) {
  return what == Governed::steps
             ? "steps are stopped by signals, which others may undo or notice, and processes that "
               "a step hides"
             : "jobs cannot be limited, and processes that a job hides";
}

}  // namespace

Result<void> announce(const supervisor::Supervisor& supervisor,
                      const std::vector<policy::JobSpec>& jobs,
                      const std::optional<unsigned>& weight, Verbosity verbosity, Governed what) {
  if (!supervisor.why_process_mode()) return {};
  // What would help comes after a semicolon; doctor has that.
  std::string_view rest = *supervisor.why_process_mode();
  const std::string why(take_until(rest, ';'));
  const auto refuse = [&why](const std::string& option) {
    return fail(option + " needs a cgroup, and none can be made (process mode: " + why +
                "); `plimsoll doctor` explains it");
  };
  if (weight) return refuse("--weight");
  for (const policy::JobSpec& job : jobs) {
    const char* option = first_limit(job.limits);
    if (option != nullptr)
      return refuse((jobs.size() == 1 ? "" : "job " + job.name + ": ") + std::string(option));
  }
  if (verbosity == Verbosity::quiet) return {};
  complain("process mode, without cgroups: memory is sampled, " + std::string(lacks(what)) +
           " may live until the run ends (" + why + ")" + (rest.empty() ? "" : ";") +
           std::string(rest));
  return {};
}

}  // namespace plimsoll::cli
