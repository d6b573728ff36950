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

// Its watcher never starts, so none of these is called.
class NobodyWatches final : public monitor::WatcherHost {
  monitor::Reading look() override { return {}; }
  void on_memory_alarm(const monitor::Alarm& /*alarm*/) override {}
  void decide(monitor::Cause /*cause*/) override {}
  void on_weakened(const monitor::Status& /*status*/) override {}
};

}  // namespace

std::vector<Check> probe_watch(Supervisor& supervisor, const cgroup::Group& group) {
  NobodyWatches nobody;
  const monitor::Watcher watcher(
      {.loop = supervisor.loop(), .worker = supervisor.worker(), .pool = group}, nobody);
  std::vector<Check> checks;
  for (const monitor::Status& status : watcher.status()) checks.push_back(check_of(status));
  checks.push_back(check_of(supervisor.oom().status()));
  return checks;
}

}  // namespace plimsoll::supervisor
