#pragma once

#include <string_view>

#include "reap/reaper.h"
#include "record/summary.h"

namespace plimsoll::cli {

// One line on standard error: "plimsoll: TEXT".
void complain(std::string_view text);

// Names the processes that do not die, and what they wait for.
void complain_of_stuck(const reap::Stuck& stuck);

// The same without a head line, for processes that were found left.
void complain_of_processes(const std::vector<cgroup::StuckProcess>& processes);

// How to write for people on a descriptor: as wide as the terminal, in colour where it is one and
// NO_COLOR is not set.
record::TextStyle style_of(int fd);
record::TextStyle stderr_style();

// For lists on standard output: where it is no terminal, nothing is cut off.
record::TextStyle list_style();

}  // namespace plimsoll::cli
