#pragma once

#include <string>

#include "base/units.h"
#include "store/runs/run_meta.h"

// Small texts for people that several tables share.
namespace plimsoll::report {

// "2026-11-21 03:59:16", in the time zone of the process.
[[nodiscard]] std::string wall_text(WallTime time);
// "2026-11-21".
[[nodiscard]] std::string date_text(WallTime time);

// "58 ok, 1 failed, 2 skipped"; "-" if there are none. Of a run that does not say how many of those
// that exited were good: "59 exited, 2 skipped". Small steps come last: "9 ok, 3 small".
[[nodiscard]] std::string outcomes_text(const RunFigures& figures);

}  // namespace plimsoll::report
