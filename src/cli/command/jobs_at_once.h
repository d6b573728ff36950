#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace plimsoll::cli {

// `-j`: N, +N and -N beside as many as there are cores, N% of the cores; 0 for no bound.
[[nodiscard]] Result<std::uint64_t> parse_jobs_at_once(std::string_view text);

// An option that takes this, under the given names; 0 leaves `jobs_max` without a value.
CLI::Option* add_jobs_option(CLI::App& app, const std::string& names,
                             std::optional<std::uint64_t>& jobs_max, const std::string& help);

}  // namespace plimsoll::cli
