#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "cli/top/model.h"
#include "cli/top/screen_line.h"

// How runs do, as lines. Pure.
namespace plimsoll::cli::top {

// A run has not answered for so long: that is told. It may be stopped, or the machine very busy.
inline constexpr Duration kSilenceTold = std::chrono::seconds(5);

// The run that is shown alone: the one that was chosen, or the only one there is.
[[nodiscard]] std::optional<std::size_t> only_run(const Model& model);

// What stands above the jobs. A run that is alone has bars, several have a line each.
[[nodiscard]] std::vector<Line> run_lines(const Model& model, const ScreenStyle& style);

// What the figures of run_line() are.
[[nodiscard]] Line run_heading(const ScreenStyle& style);
// A run in one line: its name and its figures, or what became of it.
[[nodiscard]] Line run_line(const RunView& run, const ScreenStyle& style);

// "has ended", "has not answered for 20 s"; nothing while it answers. Not printable() yet.
[[nodiscard]] std::string silence_text(const RunView& run, Instant now);

inline constexpr std::size_t kRunNameWidth = 26;  // an id has 24 columns

}  // namespace plimsoll::cli::top
