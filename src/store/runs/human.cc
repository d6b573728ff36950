#include "store/runs/human.h"

#include <time.h>

#include <algorithm>
#include <array>
#include <chrono>

#include "report/plain.h"

namespace plimsoll::report {
namespace {

std::string local_text(WallTime time, const char* format) {
  using std::chrono::system_clock;
  const std::time_t seconds =
      system_clock::to_time_t(std::chrono::time_point_cast<system_clock::duration>(time));
  std::tm local{};
  ::localtime_r(&seconds, &local);
  std::array<char, 32> text{};
  const std::size_t size = std::strftime(text.data(), text.size(), format, &local);
  return {text.data(), size};
}

}  // namespace

std::string wall_text(WallTime time) { return local_text(time, "%Y-%m-%d %H:%M:%S"); }

std::string date_text(WallTime time) { return local_text(time, "%Y-%m-%d"); }

std::string outcomes_text(const RunFigures& figures) {
  std::string text;
  const auto add = [&text](std::uint64_t count, std::string_view what) {
    if (count == 0) return;
    text += (text.empty() ? "" : ", ") + std::to_string(count) + ' ' + printable(what);
  };
  constexpr const char* kExited = "exited";
  const auto found = figures.outcomes.find(kExited);
  const std::uint64_t exited = found == figures.outcomes.end() ? 0 : found->second;
  if (figures.succeeded) {
    const std::uint64_t good = std::min(*figures.succeeded, exited);
    add(good, "ok");
    add(exited - good, "failed");
  } else {
    add(exited, kExited);
  }
  for (const auto& [outcome, count] : figures.outcomes) {
    if (outcome != kExited) add(count, outcome);
  }
  add(figures.small_steps, "small");
  return text.empty() ? "-" : text;
}

}  // namespace plimsoll::report
