#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "cli/link/run_link.h"
#include "cli/top/rows.h"

namespace plimsoll::cli::top {

struct TopOptions {
  RowChoice choice{};
  Duration interval = std::chrono::seconds(1);  // between two questions how a run does
  std::string runs_dir{};                       // where runs are recorded
};

// A control socket lets a client go that is silent for 30 s.
inline constexpr Duration kIntervalMax = std::chrono::seconds(10);
inline constexpr Duration kIntervalMin = std::chrono::milliseconds(100);

// Shows these runs on the whole terminal until the user leaves; of several he chooses. The terminal
// is as it was before when this returns. The signal that has ended it, if one has: the caller dies
// of it.
Result<std::optional<int>> show(std::vector<RunLink> links, const TopOptions& options);

}  // namespace plimsoll::cli::top
