#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"

// Typed reading of JSON. For this room only: nobody else sees the JSON library. Errors say what
// was found and what was expected; the caller puts in front where.
namespace plimsoll::jobfile {

// One JSON object. Errors: where the text stops to be JSON, something other than an object, a key
// that occurs twice in it.
[[nodiscard]] Result<nlohmann::json> parse_object(std::string_view text);

// Text without NUL, which no file, command or environment can hold.
[[nodiscard]] Result<std::string> to_text_or_empty(const nlohmann::json& value);
// The same, not empty.
[[nodiscard]] Result<std::string> to_text(const nlohmann::json& value);
// The same, or a whole number as its digits: for ids.
[[nodiscard]] Result<std::string> to_name(const nlohmann::json& value);
[[nodiscard]] Result<std::vector<std::string>> to_names(const nlohmann::json& value);

// Bytes as a number or as text such as "512M".
[[nodiscard]] Result<Bytes> to_bytes(const nlohmann::json& value);
[[nodiscard]] Result<Bytes> to_bytes_above_zero(const nlohmann::json& value);
// Seconds as a number, or text such as "10s"; more than none.
[[nodiscard]] Result<Duration> to_duration(const nlohmann::json& value);
// A number above 0, such as 1.5 cores.
[[nodiscard]] Result<double> to_cores(const nlohmann::json& value);
[[nodiscard]] Result<double> to_quota(const nlohmann::json& value);  // from kCpusMin
[[nodiscard]] Result<bool> to_bool(const nlohmann::json& value);

struct WholeRange {
  std::int64_t least = 0;
  std::int64_t most = INT64_MAX;
};
[[nodiscard]] Result<std::int64_t> to_whole(const nlohmann::json& value, WholeRange range);

// "found VALUE, expected `what`", for whatever the functions above do not know.
[[nodiscard]] tl::unexpected<Error> unlike(const nlohmann::json& value, std::string_view what);

}  // namespace plimsoll::jobfile
