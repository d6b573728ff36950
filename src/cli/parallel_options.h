#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "cli/batch_options.h"

// The options of GNU parallel that `batch` has under another name, or not at all.
namespace plimsoll::cli {

// Those that mean the same as an option of ours, or ask for what is so anyway. --help does not list
// them; docs/formats/arguments.md does.
void add_parallel_options(CLI::App& app, BatchOptions& options);

// What there is instead of an option of GNU parallel's that `batch` does not have; nothing of any
// other.
[[nodiscard]] std::optional<std::string> parallel_hint(std::string_view option);

}  // namespace plimsoll::cli
