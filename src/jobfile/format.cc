#include "jobfile/format.h"

#include <nlohmann/json.hpp>
#include <optional>

#include "base/text.h"
#include "jobfile/place.h"

namespace plimsoll::jobfile {
namespace {

struct Line {
  std::string_view text;  // without blanks around it
  std::size_t number = 1;
};

// The first line that is not blank; nothing if there is none.
std::optional<Line> first_line(std::string_view text) {
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::string_view line = trim(take_line(text));
    if (!line.empty()) return Line{line, number};
  }
  return std::nullopt;
}

// `[ -f x ]` is a test of the shell's, but no command begins with `["` or `[{`.
bool begins_json_array(std::string_view line) {
  if (!line.starts_with('[')) return false;
  const std::string_view inside = trim(line.substr(1));
  return inside.empty() || inside.starts_with('{') || line.starts_with("[\"");
}

}  // namespace

Result<Format> parse_format(std::string_view text) {
  if (text == "text") return Format::text;
  if (text == "jsonl") return Format::jsonl;
  return fail("found \"" + std::string(text) + "\", expected text or jsonl");
}

Format detect_format(std::string_view text) {
  const auto line = first_line(text);
  if (!line || !line->text.starts_with('{')) return Format::text;
  const bool json = line->text.starts_with("{\"") || nlohmann::json::accept(line->text);
  return json ? Format::jsonl : Format::text;
}

Result<void> check_is_lines(std::string_view text, std::string_view file) {
  const auto line = first_line(text);
  if (!line) return {};
  const bool array = begins_json_array(line->text);
  if (!array && line->text != "{") return {};
  constexpr std::size_t kShown = 40;
  return fail_at({file, line->number}, "found \"" + std::string(line->text.substr(0, kShown)) +
                                           "\", expected one JSON object per line, which " +
                                           (array ? "`jq -c '.[]'`" : "`jq -c .`") + " makes");
}

}  // namespace plimsoll::jobfile
