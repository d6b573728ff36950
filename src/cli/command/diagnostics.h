#pragma once

#include <vector>

#include "args/complaint.h"
#include "kernel/reap/reaper.h"

namespace plimsoll::cli {

using args::complain;
using args::did_you_mean;

// Names the processes that do not die, and what they wait for.
void complain_of_stuck(const reap::Stuck& stuck);

// The same without a head line, for processes that were found left.
void complain_of_processes(const std::vector<cgroup::StuckProcess>& processes);

}  // namespace plimsoll::cli
