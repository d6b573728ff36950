#include "cli/command/jobs_at_once.h"

#include <algorithm>

#include "base/text.h"
#include "cli/command/options.h"
#include "supervisor/host.h"

namespace plimsoll::cli {

Result<std::uint64_t> parse_jobs_at_once(std::string_view text) {
  constexpr std::uint64_t kJobsMost = 1'000'000;
  const auto mistake = [text] {
    return fail("found \"" + std::string(text) +
                "\", expected a number from 0 (no limit) to 1000000, or relative to the number of "
                "cores 50%, +1 or -1");
  };
  const bool more = text.starts_with('+');
  const bool fewer = text.starts_with('-');
  const bool share = text.ends_with('%');
  std::string_view digits = text.substr(more || fewer ? 1 : 0);
  if (share) digits.remove_suffix(1);
  const auto number = to_u64(digits);
  if (!number || *number > kJobsMost || (share && (more || fewer || *number == 0)))
    return mistake();
  if (!share && !more && !fewer) return *number;
  constexpr std::uint64_t kWhole = 100;
  const std::uint64_t cores = supervisor::usable_cores();
  if (more) return cores + *number;
  if (fewer) return cores > *number ? cores - *number : 1;
  return std::clamp<std::uint64_t>(cores * *number / kWhole, 1, kJobsMost);
}

CLI::Option* add_jobs_option(CLI::App& app, const std::string& names,
                             std::optional<std::uint64_t>& jobs_max, const std::string& help) {
  return add_value(
      app, names, parse_jobs_at_once,
      [&jobs_max](std::uint64_t jobs) { jobs_max = jobs > 0 ? std::optional(jobs) : std::nullopt; },
      help);
}

}  // namespace plimsoll::cli
