#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "args/complaint.h"
#include "kernel/reap/reaper.h"
#include "report/summary.h"

namespace plimsoll::cli {

using args::complain;
using args::did_you_mean;

// Names the processes that do not die, and what they wait for.
void complain_of_stuck(const reap::Stuck& stuck);

// The same without a head line, for processes that were found left.
void complain_of_processes(const std::vector<cgroup::StuckProcess>& processes);

// How to write for people on a descriptor: as wide as the terminal, in colour where it is one.
report::TextStyle style_of(int fd);
// None if NO_COLOR is set or TERM says that the terminal has none.
report::Colour terminal_colour();

// For what names jobs at the end of a run, and for lists on standard output: where it is no
// terminal, nothing is cut off.
report::TextStyle stderr_style();
report::TextStyle list_style();

}  // namespace plimsoll::cli
