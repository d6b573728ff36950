#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/units.h"
#include "guardian/spawn_request.h"

// What a Buildbarn worker asks of its runner, and how the runner is to go about it, as plain
// values. Source: docs/buildbarn.md.
namespace plimsoll::daemon {

// One action. Paths are below the build directory, but for `working_directory`, which is below the
// input root.
struct ActionRequest {
  Words arguments;
  std::vector<std::pair<std::string, std::string>> environment;  // the whole of it
  std::string working_directory;
  std::string stdout_path, stderr_path;
  std::string input_root;
  std::string temporary_directory;
  std::string server_logs;
  std::optional<Duration> time_left;  // until the caller's deadline
};

// What bb_runner's configuration says; names as there.
struct RunnerSettings {
  std::string build_directory;  // absolute
  bool set_tmpdir = false;
  bool chroot_into_input_root = false;
  bool sample_cgroup = false;  // the message CgroupResourceUsage is sent too
  std::optional<guardian::Identity> run_as;
  std::optional<mode_t> umask;
  std::vector<guardian::ResourceLimit> rlimits;
  std::vector<std::string> readiness_paths;
  std::vector<std::string> symlinked_temporary_directories;
  std::vector<std::string> cleaned_directories;
  std::vector<std::string> cleaner_command;
};

}  // namespace plimsoll::daemon
