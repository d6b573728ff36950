#include "engine/probe_watch.h"

#include "watch/watcher.h"

namespace plimsoll::engine {
namespace {

using record::Check;
using record::CheckState;

Check check_of(const watch::Status& status) {
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

std::vector<Check> probe_watch(Machine& machine, const cgroup::Group& group) {
  // It never starts, so none of these is called.
  const watch::Watcher watcher({.loop = machine.loop(), .worker = machine.worker(), .pool = group},
                               {.look = [] { return watch::Reading{}; },
                                .alarm = [](const watch::Alarm&) {},
                                .decide = [](watch::Cause) {},
                                .weakened = [](const watch::Status&) {}});
  std::vector<Check> checks;
  for (const watch::Status& status : watcher.status()) checks.push_back(check_of(status));
  checks.push_back(check_of(machine.oom().status()));
  return checks;
}

}  // namespace plimsoll::engine
