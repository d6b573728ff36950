#include "cli/command/diagnostics.h"

#include <string>

#include "report/plain.h"
#include "supervisor/reporting.h"

namespace plimsoll::cli {

void complain_of_stuck(const reap::Stuck& stuck) {
  complain("run: " + supervisor::stuck_text(stuck));
  complain_of_processes(stuck.processes);
}

void complain_of_processes(const std::vector<cgroup::StuckProcess>& processes) {
  for (const cgroup::StuckProcess& process : processes) {
    complain("  process " + std::to_string(process.pid) + " (" + report::printable(process.comm) +
             "), state " + process.state + ", waits in " +
             (process.wchan.empty() ? "the run queue of a CPU" : process.wchan));
  }
}

}  // namespace plimsoll::cli
