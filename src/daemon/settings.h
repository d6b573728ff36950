#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "daemon/config.h"

// The table of all that can be set: one row a setting, whatever it is set by.
namespace plimsoll::daemon {

// How a file may write a value; options and the environment have text alone.
enum class Form : std::uint8_t { text, path, count, number, text_or_count, truth };
[[nodiscard]] std::string_view name_of(Form form);

struct Setting {
  std::string_view key;          // "SECTION.NAME"
  Form form{};                   //
  Effect effect{};               //
  std::string_view option;       // "--line"; empty: only a file says it
  std::string_view value;        // of the option, as --help calls it: "SIZE"
  std::string_view environment;  // a variable that says it as well; empty: none
  std::string_view help;         // one line
  // Takes the value over. An error says what was found and what was expected.
  Result<void> (*take)(Config& config, std::string_view text);
  // What holds where nobody says anything; absent: nothing.
  std::optional<std::string> (*by_default)(){};
};

[[nodiscard]] std::span<const Setting> settings();
// Null if there is no such setting.
[[nodiscard]] const Setting* find_setting(std::string_view key);

// What an option or a variable says, as a file would: paths are those of the caller there.
[[nodiscard]] std::string resolved(const Setting& setting, const std::string& text);

// "127.0.0.1:9755", "[::1]:9755", "builder:9755".
Result<Address> parse_address(std::string_view text);

}  // namespace plimsoll::daemon
