#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace plimsoll::policy {

// Whether `name` is one of a table of names.
template <std::size_t N>
bool among(const std::array<std::string_view, N>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace plimsoll::policy
