#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"
#include "policy/job/job.h"
#include "report/json_text.h"

// Reading JSON without exceptions: what is not there, or of another type, is absent.
namespace plimsoll::report {

// What a text may have at most, as reading it takes up to twenty times as much memory. Of all that
// Plimsoll writes, a report with its samples and the longest command that the kernel executes is the
// longest, and shorter.
inline constexpr std::size_t kDocumentMax = std::size_t{16} << 20;

// An object whose "schema" is this; nothing for any other text, and for a longer one.
[[nodiscard]] std::optional<Json> parse_document(std::string_view text, const char* schema);

// The member of an object; null if there is none.
[[nodiscard]] const Json& member(const Json& object, const char* key);

[[nodiscard]] std::optional<std::uint64_t> count_at(const Json& object, const char* key);
[[nodiscard]] std::optional<double> number_at(const Json& object, const char* key);
[[nodiscard]] std::string text_at(const Json& object, const char* key);
// The texts of a list.
[[nodiscard]] std::vector<std::string> texts_at(const Json& object, const char* key);
[[nodiscard]] std::optional<Bytes> bytes_at(const Json& object, const char* key);
[[nodiscard]] std::optional<Duration> duration_at(const Json& object, const char* key);
// What a job report says was run: its "shell", else its "argv".
[[nodiscard]] policy::Command command_at(const Json& report);

}  // namespace plimsoll::report
