#include "jobs/format.h"

#include <nlohmann/json.hpp>

#include "base/text.h"

namespace plimsoll::jobs {

Result<Format> parse_format(std::string_view text) {
  if (text == "text") return Format::text;
  if (text == "jsonl") return Format::jsonl;
  return fail("found \"" + std::string(text) + "\", expected text or jsonl");
}

Format detect_format(std::string_view text) {
  while (!text.empty()) {
    const std::string_view line = trim(take_line(text));
    if (line.empty()) continue;
    if (!line.starts_with('{')) return Format::text;
    return line.starts_with("{\"") || nlohmann::json::accept(line) ? Format::jsonl : Format::text;
  }
  return Format::text;
}

}  // namespace plimsoll::jobs
