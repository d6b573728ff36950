#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"

namespace plimsoll::daemon {

// A weight that a client asks for, as of cpu.weight (cgroup-v2): 1 to 10000; nothing for 0.
[[nodiscard]] inline Result<std::optional<unsigned>> weight_of(const char* field,
                                                               std::uint32_t value) {
  constexpr std::uint32_t kWeightMax = 10'000;
  if (value == 0) return std::optional<unsigned>();
  if (value <= kWeightMax) return std::optional<unsigned>(value);
  return fail(std::errc::invalid_argument,
              std::string(field) + ": found " + std::to_string(value) + ", expected 1 to 10000");
}

}  // namespace plimsoll::daemon
