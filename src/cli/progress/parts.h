#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "cli/progress/gauge.h"
#include "supervisor/control/run_status.h"

// Parts of what is shown of a run that goes on, in the words that all who show one use. Pure; all
// of it is printable().
namespace plimsoll::cli {

// "0.5", "13.2"; what is below zero is "0.0".
[[nodiscard]] std::string decimal(double value);
// The same, and whole numbers without their ".0".
[[nodiscard]] std::string cores_text(double cores);

// "5/16 done", "1 failed", "4 running", and so on; what there is none of is left out.
[[nodiscard]] std::vector<Span> count_parts(const supervisor::RunStatus& status);

// "about 25 s left"; empty where nothing is known of it.
[[nodiscard]] std::string left_text(const supervisor::RunStatus& status);

// How near a share is to the whole.
[[nodiscard]] Tone tone_of(double share);
// None of nothing.
[[nodiscard]] double share_of(double part, double whole);

// A reason mostly tells its numbers; one that does not gets them behind it. Not printable() yet.
[[nodiscard]] std::string reason_of(const supervisor::HoldingStatus& holding);

// "memory", "cores", "user": why the job is paused; nothing if that is not known.
[[nodiscard]] std::string_view cause_text(const supervisor::RunningJob& job);

// In so many columns: the name, or the number and as much of the command as there is room for.
[[nodiscard]] std::string title_of(const supervisor::RunningJob& job, std::size_t width);

}  // namespace plimsoll::cli
