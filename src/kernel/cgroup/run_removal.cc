#include "kernel/cgroup/run_removal.h"

#include "base/file.h"
#include "base/text.h"
#include "kernel/cgroup/hierarchies.h"
#include "kernel/cgroup/run_tree.h"

namespace plimsoll::cgroup {
namespace {

void disable_for_children(const Directory& directory) {
  const auto enabled = directory.read("cgroup.subtree_control");
  if (!enabled) return;
  const ControllerSet controllers = parse_v2_controllers(*enabled);
  for (const Controller controller : kControllers) {
    if (!controllers.has(controller)) continue;
    const std::string text = "-" + std::string(name_of(controller, Version::v2));
    [[maybe_unused]] const auto ignored = directory.write("cgroup.subtree_control", text);
  }
}

// Whether the caller is out of the tree afterwards.
bool go_home(const std::vector<Group::Part>& bases, const Group& run, int home_procs) {
  if (home_procs < 0) return true;
  for (const std::vector<Group::Part>* level : {&run.parts(), &bases}) {
    for (const Group::Part& part : *level) {
      if (part.directory.version() == Version::v2) disable_for_children(part.directory);
    }
  }
  return write_text(home_procs, "0").has_value();
}

}  // namespace

Remains destroy_run(const std::vector<Group::Part>& bases, const std::string& name, int home_procs,
                    Instant deadline, Instant (*clock)()) {
  auto run = open_group(bases, name);
  if (!run) return Remains{.gone = false, .processes = {}, .trouble = run.error()};
  Remains pool = destroy(run->parts(), kPoolName, deadline, clock);
  if (!pool.gone) return pool;
  // A scope of systemd's may not take the caller back; it is removed with its last process.
  if (!go_home(bases, *run, home_procs)) return pool;
  return destroy(bases, name, deadline, clock);
}

}  // namespace plimsoll::cgroup
