#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/disk.h"
#include "base/units.h"
#include "cli/command/options.h"
#include "cli/govern/jobserver_offer.h"
#include "supervisor/run/pool_options.h"

namespace plimsoll::cli {

// So often a build tool is started again after a step of it was killed, unless the user says
// otherwise.
inline constexpr unsigned kRerunsDefault = 2;

// So long a command of a session waits that was started through a hook: less than the two minutes
// after which coding agents give up on one.
inline constexpr Duration kSessionHoldMax = std::chrono::seconds(100);

// What `plimsoll session` is told beyond `plimsoll govern`.
struct SessionTerms {
  Duration hold_max = kSessionHoldMax;
};

struct GovernOptions {
  std::vector<std::string> command;
  std::optional<SessionTerms> session;
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
  bool progress = false;
  Verbosity verbosity = Verbosity::normal;

  // Of the subcommand.
  [[nodiscard]] const char* name() const { return session ? "session" : "govern"; }
};

// Of whichever subcommand `options` says. A value is the exit status to leave with: a mistake was
// told, or help was printed.
std::optional<int> parse_govern_options(GovernOptions& options, int argc, char** argv);

}  // namespace plimsoll::cli
