#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"

namespace plimsoll::daemon {

// One value of a file, wherever it stands in tables: "governor.line".
struct FileValue {
  std::string key;
  std::size_t line = 0;
  // monostate: of a type that no setting has (a list, a date); `kind` names it.
  std::variant<std::monostate, std::string, std::int64_t, double, bool> value;
  std::string_view kind;
};

// The most that is read: no configuration has a hundredth of it.
inline constexpr std::size_t kConfigBytesMax = 1 << 20;

// All values of a TOML 1.0 document, in the order of its lines. An error begins with the line:
// "3: found ...". Empty tables have no values.
Result<std::vector<FileValue>> parse_toml(std::string_view text);

}  // namespace plimsoll::daemon
