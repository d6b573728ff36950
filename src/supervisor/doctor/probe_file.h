#pragma once

#include <string>
#include <vector>

#include "kernel/cgroup/group.h"
#include "supervisor/doctor/doctor.h"

namespace plimsoll::supervisor {

// Something that a kernel offers by a file in the group of a job.
struct FileFeature {
  std::string id;
  cgroup::Controller controller{};
  // Any of these will do.
  std::vector<const char*> v2_files;
  std::vector<const char*> v1_files;
  std::string cost;    // of doing without
  std::string remedy;  // where the controller is there and the file is not
};

// Looks for the file in the group's directory of the controller.
report::Check probe_file(const cgroup::Group& group, const FileFeature& feature);

// `feature` is missing in a group that has not even the controller.
report::Check without_controller(const FileFeature& feature);

}  // namespace plimsoll::supervisor
