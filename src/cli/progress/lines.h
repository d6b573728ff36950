#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "policy/job/event.h"
#include "policy/job/job.h"
#include "report/report.h"
#include "report/shared_text.h"

// What happens in a run as lines of a log, for `--progress plain`. Pure; no line has its newline.
namespace plimsoll::cli {

// How many jobs have ended, of how many: in front of each line. As in the table of a terminal, a
// job that never started has not ended.
struct Tally {
  std::size_t ended = 0, jobs = 0;
};

struct LineStyle {
  std::size_t width = 0;  // columns; 0: no line is cut
  const report::SharedText& commands;
};

// Nothing for what the log says otherwise, or what is too small for it. `job`: the event's, if it
// has one.
[[nodiscard]] std::optional<std::string> event_line(const policy::Event& event,
                                                    const policy::JobSpec* job, const Tally& tally,
                                                    const LineStyle& style);
[[nodiscard]] std::string end_line(const policy::JobSpec& job, const report::JobReport& report,
                                   const Tally& tally, const LineStyle& style);

}  // namespace plimsoll::cli
