#include "supervisor/doctor/probes.h"

namespace plimsoll::supervisor {

using cgroup::Version;
using report::Check;
using report::CheckState;

Check without_controller(const FileFeature& feature) {
  const std::string name(cgroup::name_of(feature.controller, Version::v2));
  return {.id = feature.id,
          .state = CheckState::missing,
          .value = "groups here have no " + name + " controller",
          .cost = feature.cost,
          .remedy = "see controller." + name};
}

Check probe_file(const cgroup::Group& group, const FileFeature& feature) {
  const cgroup::Directory* directory = group.of(feature.controller);
  if (directory == nullptr) return without_controller(feature);
  const bool is_v2 = directory->version() == Version::v2;
  const auto& files = is_v2 ? feature.v2_files : feature.v1_files;
  for (const char* file : files) {
    if (directory->has_file(file)) return {.id = feature.id, .value = file};
  }
  std::string value = is_v2 ? "cgroup v2 has" : "cgroup v1 has";
  value += files.size() == 0 ? " no such file" : std::string(" no ") + files.front() + " here";
  return {.id = feature.id,
          .state = CheckState::missing,
          .value = value,
          .cost = feature.cost,
          .remedy = feature.remedy};
}

}  // namespace plimsoll::supervisor
