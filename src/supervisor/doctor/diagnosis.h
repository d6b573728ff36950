#pragma once

#include <memory>
#include <optional>
#include <string>

#include "kernel/cgroup/hierarchies.h"
#include "supervisor/doctor/doctor.h"
#include "supervisor/supervisor.h"

namespace plimsoll::supervisor {

// The controllers to be tried beside those that every job has, for SupervisorConfig::controllers:
// cpu and io, where they are on v1 and can be had. A named path is made, as Machine makes it.
cgroup::ControllerSet controllers_at_hand(const std::optional<std::string>& cgroup_path);

// What a diagnosis starts from.
struct Patient {
  std::string run_id;
  std::optional<std::string> cgroup_path{};
  // As Supervisor::create() has answered: without a machine only what needs no group is looked at.
  Supervisor* supervisor = nullptr;
  std::optional<Error> why_no_machine{};
};

// Looks at everything, and tries what can be tried, in groups of the machine's pool. Takes some
// milliseconds; on a machine that stands still up to a few times ten seconds.
report::DoctorReport diagnose(const Patient& patient);

}  // namespace plimsoll::supervisor
