#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/disk.h"
#include "cli/command/options.h"
#include "cli/govern/jobserver_offer.h"
#include "supervisor/run/pool_options.h"

namespace plimsoll::cli {

// So often a build tool is started again after a step of it was killed, unless the user says
// otherwise.
inline constexpr unsigned kRerunsDefault = 2;

struct GovernOptions {
  std::vector<std::string> command;
  supervisor::PoolOptions governor;
  std::vector<std::string> drivers;
  unsigned reruns = kRerunsDefault;
  bool no_hold = false;
  JobserverWish jobserver = JobserverWish::automatic;
  std::optional<std::string> report;
  Durability durability = Durability::written;  // of the report
  std::optional<std::string> cgroup_path;
  std::optional<std::int64_t> nice;
  bool standalone = false;
  Verbosity verbosity = Verbosity::normal;
};

// A value is the exit status to leave with: a mistake was told, or help was printed.
std::optional<int> parse_govern_options(GovernOptions& options, int argc, char** argv);

}  // namespace plimsoll::cli
