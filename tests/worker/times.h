#pragma once

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

namespace plimsoll::testing {

using Times = std::vector<std::chrono::duration<double>>;

// "p50 1.23 ms, p99 4.56 ms".
inline std::string text_of(Times times) {
  if (times.empty()) return "never";
  std::sort(times.begin(), times.end());
  const auto at = [&times](double share) {
    const auto index = static_cast<std::size_t>(share * static_cast<double>(times.size()));
    return times[std::min(index, times.size() - 1)].count() * 1e3;
  };
  char text[64];
  std::snprintf(text, sizeof text, "p50 %.2f ms, p99 %.2f ms", at(0.5), at(0.99));
  return text;
}

}  // namespace plimsoll::testing
