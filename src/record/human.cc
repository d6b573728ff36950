#include "record/human.h"

#include <time.h>

#include <array>
#include <chrono>

#include "record/plain.h"

namespace plimsoll::record {

std::string wall_text(WallTime time) {
  using std::chrono::system_clock;
  const std::time_t seconds =
      system_clock::to_time_t(std::chrono::time_point_cast<system_clock::duration>(time));
  std::tm local{};
  ::localtime_r(&seconds, &local);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S", &local);
  return text.data();
}

std::string outcomes_text(const RunFigures& figures) {
  std::string text;
  for (const auto& [outcome, count] : figures.outcomes) {
    text += (text.empty() ? "" : ", ") + std::to_string(count) + ' ' + printable(outcome);
  }
  return text.empty() ? "-" : text;
}

}  // namespace plimsoll::record
