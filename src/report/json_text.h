#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

// A JSON document as text.
namespace plimsoll::report {

using Json = nlohmann::ordered_json;

enum class JsonForm : std::uint8_t {
  line,    // one line, for JSON lines
  pretty,  // indented by two spaces
};

// Ends with a newline in either form; bytes that are no UTF-8 become U+FFFD. Never throws.
[[nodiscard]] std::string text_of(const Json& json, JsonForm form);

}  // namespace plimsoll::report
