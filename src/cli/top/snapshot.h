#pragma once

#include <vector>

#include "base/result.h"
#include "cli/link/run_link.h"
#include "cli/top/session.h"

// `plimsoll top` without a screen, on standard output.
namespace plimsoll::cli::top {

// How these runs do now, as text. Waits for their answers, kAnswerTime at most.
Result<void> print_once(std::vector<RunLink> links, const TopOptions& options);

enum class JsonTimes : bool { once, until_the_end };
// The same as JSON lines (docs/formats/control.md, "Progress"): a status each, once or every
// interval until the last run has ended, which is told.
Result<void> print_json(std::vector<RunLink> links, const TopOptions& options, JsonTimes times);

// A run answers at once; one that is being stopped by a debugger, say, does not.
inline constexpr Duration kAnswerTime = std::chrono::seconds(10);

}  // namespace plimsoll::cli::top
