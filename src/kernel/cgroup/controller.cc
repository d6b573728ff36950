#include "kernel/cgroup/controller.h"

namespace plimsoll::cgroup {

std::string_view name_of(Controller controller, Version version) {
  switch (controller) {
    case Controller::cpu: return "cpu";
    case Controller::cpuacct: return "cpuacct";
    case Controller::cpuset: return "cpuset";
    case Controller::freezer: return "freezer";
    case Controller::io: return version == Version::v1 ? "blkio" : "io";
    case Controller::memory: return "memory";
    case Controller::pids: return "pids";
  }
  return {};
}

std::optional<Controller> controller_named(std::string_view name, Version version) {
  for (const Controller controller : kControllers) {
    if (name_of(controller, version) == name) return controller;
  }
  return std::nullopt;
}

}  // namespace plimsoll::cgroup
