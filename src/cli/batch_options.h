#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/disk.h"
#include "cli/command/governor_options.h"
#include "cli/progress/display.h"
#include "jobfile/input.h"
#include "policy/governor/governor_config.h"
#include "policy/queue/queue.h"
#include "supervisor/output/collector.h"

namespace plimsoll::cli {

// Which jobs a job log leaves to be run.
enum class Again : std::uint8_t {
  all,             // no --resume: the log is begun anew
  unlogged,        // --resume: those that are not in the log
  failed_as_well,  // --resume-failed: those too that failed
  failed_alone,    // --retry-failed: only those, with the commands of the log
};

struct BatchOptions {
  jobfile::InputOptions input;
  supervisor::PoolOptions governor;
  std::optional<Duration> delay;
  std::optional<policy::HaltPolicy> halt;
  std::optional<policy::StartOrder> start_order;
  std::optional<std::int64_t> nice;
  std::optional<policy::TimeoutPolicy> timeout;
  std::optional<Duration> kill_after;
  output::Order order = output::Order::group;
  bool tag = false;
  std::optional<std::string> results;
  std::optional<std::string> joblog;
  Again again = Again::all;
  std::optional<std::string> report;
  Durability durability = Durability::written;  // of the three before
  std::optional<std::string> cgroup_path;
  std::optional<ProgressStyle> progress;
  bool dry_run = false;
  bool quiet = false;
  bool verbose = false;
  bool trace = false;  // print each command as it starts
  bool standalone = false;
  std::optional<std::uint64_t> heaviest;
};

// A value is the exit status to leave with: a mistake was told, or help was printed.
std::optional<int> parse_batch_options(BatchOptions& options, int argc, char** argv);

}  // namespace plimsoll::cli
