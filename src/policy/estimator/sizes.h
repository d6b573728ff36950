#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace plimsoll::policy {

// What is known beforehand of how much an attempt has to do, as numbers that may explain what it
// takes: the first is its input, in bytes, the others are the numbers of its arguments. Borrows
// those.
struct Sizes {
  std::optional<double> input{};
  std::span<const double> numbers{};

  static constexpr std::size_t kInput = 0;

  [[nodiscard]] std::size_t count() const { return 1 + numbers.size(); }
  [[nodiscard]] std::optional<double> at(std::size_t which) const {
    if (which == kInput) return input;
    return which < count() ? std::optional(numbers[which - 1]) : std::nullopt;
  }
};

}  // namespace plimsoll::policy
