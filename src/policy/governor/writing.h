#pragma once

#include <optional>

#include "base/units.h"
#include "policy/estimator/estimate.h"
#include "policy/governor/member.h"

// What jobs write to file systems.
namespace plimsoll::policy {

// Who writes less is never held, paused or named.
inline constexpr double kWritesLeast = 1 << 20;
// An attempt of which nothing is known has shown after so long whether it writes, or once it has
// been quiet (WroteLately); until it is quiet it is then taken to write as much again as it has.
// Guesses: most that write begin soon.
inline constexpr Duration kWriteShown = std::chrono::seconds(2);
// One that has written more than was believed is taken to write so much more of what it has.
inline constexpr double kBeyondWritten = 0.25;

// Bytes that an attempt is believed to write at most, one standard deviation covered.
[[nodiscard]] std::optional<double> to_write(const Estimate& estimate);
// What a running one is still to write; the doubt about it passes while it is quiet.
[[nodiscard]] double left_to_write(const Member& member);
// Whether that is known of one of whose kind nothing is known.
[[nodiscard]] bool has_shown_writing(const Member& member);
// Bytes that it has written, as far as looks have seen; 0 if none could tell.
[[nodiscard]] double written(const Member& member);
// Whether it has been quiet for so long that nothing is in doubt.
[[nodiscard]] bool is_quiet(const Member& member);
// Whether it has written, or is still to write, what counts.
[[nodiscard]] bool is_writer(const Member& member);

}  // namespace plimsoll::policy
