#include "daemon/config_file.h"

#include <algorithm>
#include <tuple>

#define TOML_EXCEPTIONS 0  // errors are values
// Some of its assertions are met by malformed text; without them it is an error like others.
#define TOML_ASSERT(expression) static_cast<void>(0)
#define TOML_HEADER_ONLY 1
#include <toml++/toml.h>

namespace plimsoll::daemon {
namespace {

FileValue value_of(std::string key, const toml::node& node) {
  FileValue found{.key = std::move(key), .line = node.source().begin.line, .value = {}, .kind = {}};
  if (const auto* text = node.as_string()) {
    found.value = text->get();
    found.kind = "text";
  } else if (const auto* whole = node.as_integer()) {
    found.value = whole->get();
    found.kind = "a whole number";
  } else if (const auto* number = node.as_floating_point()) {
    found.value = number->get();
    found.kind = "a number";
  } else if (const auto* truth = node.as_boolean()) {
    found.value = truth->get();
    found.kind = "true or false";
  } else {
    found.kind = node.is_array() ? "a list" : "a date or a time";
  }
  return found;
}

// Tables are nested no deeper than the parser allows.
void collect(const toml::table& table, const std::string& prefix, std::vector<FileValue>& values) {
  for (const auto& [key, node] : table) {
    std::string name = prefix + std::string(key.str());
    if (const toml::table* inner = node.as_table()) {
      collect(*inner, name + ".", values);
    } else {
      values.push_back(value_of(std::move(name), node));
    }
  }
}

// The delimiter of the string that begins here: of three characters where it may span lines.
std::string_view delimiter_at(std::string_view text) {
  const std::string_view three = text.substr(0, 3);
  return three == R"(""")" || three == "'''" ? three : text.substr(0, 1);
}

// How long the comment or string is that begins here; 0: neither does.
std::size_t quoted_size(std::string_view text) {
  if (text.front() == '#') return std::min(text.find('\n'), text.size());
  if (text.front() != '"' && text.front() != '\'') return 0;
  const std::string_view end = delimiter_at(text);
  std::size_t at = end.size();
  while (at < text.size() && !text.substr(at).starts_with(end)) {
    if (text[at] == '\n' && end.size() == 1) return at;
    const bool escapes = text[at] == '\\' && end.front() == '"';
    at += escapes ? 2U : 1U;
  }
  return std::min(at + end.size(), text.size());
}

// Where a character stands that TOML has in comments and strings alone. toml++ 3.3 takes some of
// them for a space, by a jump into the undefined.
std::optional<std::size_t> find_misplaced(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t quoted = quoted_size(text.substr(at));
    if (quoted == 0 && static_cast<unsigned char>(text[at]) > 0x7F) return at;
    at += std::max<std::size_t>(quoted, 1);
  }
  return std::nullopt;
}

}  // namespace

Result<std::vector<FileValue>> parse_toml(std::string_view text) {
  if (text.size() > kConfigBytesMax) {
    return fail("1: found " + std::to_string(text.size()) + " bytes, expected at most " +
                std::to_string(kConfigBytesMax));
  }
  if (const auto misplaced = find_misplaced(text)) {
    const auto line = 1 + std::count(text.begin(), text.begin() + *misplaced, '\n');
    return fail(std::to_string(line) +
                ": found a character beyond ASCII, expected those in strings and comments alone");
  }
  const toml::parse_result parsed = toml::parse(text);
  if (!parsed) {
    const toml::parse_error& error = parsed.error();
    return fail(std::to_string(error.source().begin.line) + ": " +
                std::string(error.description()));
  }
  std::vector<FileValue> values;
  collect(parsed.table(), "", values);
  std::sort(values.begin(), values.end(), [](const FileValue& a, const FileValue& b) {
    return std::tie(a.line, a.key) < std::tie(b.line, b.key);
  });
  return values;
}

}  // namespace plimsoll::daemon
