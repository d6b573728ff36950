#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "store/runs/run_meta.h"

// The recorded runs of a user: a directory for each, named by its id (docs/formats/runs.md).
namespace plimsoll::report {

// So many are kept: weeks of daily use, and a list that can be read.
inline constexpr std::size_t kRunsMax = 100;
// Of those so many are of a single command (`plimsoll run`): a script that runs hundreds must not
// push out the batches.
inline constexpr std::size_t kSingleRunsMax = 50;
// All together: what nobody misses on a disk.
inline constexpr Bytes kRunsBytesMax{256ULL << 20};

enum class RunState : std::uint8_t {
  running,
  finished,
  died,  // Plimsoll ended before the run did
};
[[nodiscard]] std::string_view name_of(RunState state);

struct RunEntry {
  std::string id{};
  std::string path{};
  RunState state = RunState::died;
  RunMeta meta{};
  std::optional<RunFigures> figures{};  // of a finished run
};

// Oldest first. A directory that does not exist has no runs; directories in it that hold none are
// passed over.
Result<std::vector<RunEntry>> list_runs(const std::string& runs_dir);

// How many runs before the last one a user means: 0 by `last`, 2 by `last-2`. Nothing for other
// names.
[[nodiscard]] std::optional<std::size_t> back_from_last(std::string_view name);

// The run that a user means by an id, a prefix that only one id has, a path (with a '/'), `last`,
// which is the one that started last, or `last-N`. An error says what else there is.
Result<RunEntry> find_run(const std::string& runs_dir, const std::string& name);

struct RunBounds {
  std::size_t runs = kRunsMax;
  std::size_t single_runs = kSingleRunsMax;
  Bytes bytes = kRunsBytesMax;
};
// Removes the oldest until the bounds hold, but none that is running, and what a loss of power has
// left of others. What can't be removed stays.
void prune_runs(const std::string& runs_dir, const RunBounds& bounds = {});

}  // namespace plimsoll::report
