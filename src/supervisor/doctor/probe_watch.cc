#include "supervisor/doctor/probe_watch.h"

#include "kernel/monitor/watcher.h"

namespace plimsoll::supervisor {
namespace {

using report::Check;
using report::CheckState;

Check check_of(const monitor::Status& status) {
  Check check{.id = "watch." + status.name, .value = status.why};
  if (status.works) return check;
  check.state = CheckState::missing;
  check.value = status.health;
  check.cost = status.why;
  check.remedy = status.name == "pressure" ? "psi=1 on the kernel command line (CONFIG_PSI)"
                                           : "a memory controller: see controller.memory";
  return check;
}

}  // namespace

std::vector<Check> probe_watch(Supervisor& supervisor, const cgroup::Group& group) {
  // It never starts, so none of these is called.
  const monitor::Watcher watcher(
      {.loop = supervisor.loop(), .worker = supervisor.worker(), .pool = group},
      {.look = [] { return monitor::Reading{}; },
       .alarm = [](const monitor::Alarm&) {},
       .decide = [](monitor::Cause) {},
       .weakened = [](const monitor::Status&) {}});
  std::vector<Check> checks;
  for (const monitor::Status& status : watcher.status()) checks.push_back(check_of(status));
  checks.push_back(check_of(supervisor.oom().status()));
  return checks;
}

}  // namespace plimsoll::supervisor
