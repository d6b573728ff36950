#include "jobfile/header.h"

#include <algorithm>
#include <optional>

#include "jobfile/replacement.h"

namespace plimsoll::jobfile {
namespace {

// Of a table with many columns so many are listed.
constexpr std::size_t kNamesListed = 16;

bool is_name_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

// Letters, digits, `_` and `-`, a letter first; then perhaps a part, such as `.` or `//`.
bool looks_like_a_name(std::string_view inside) {
  const std::string_view name = inside.substr(0, inside.find_last_not_of("./") + 1);
  return !name.empty() && is_name_letter(name.front()) && std::ranges::all_of(name, [](char c) {
    return is_name_letter(c) || (c >= '0' && c <= '9') || c == '-';
  });
}

// The first `{NAME}` of `word` that no column is called.
std::optional<std::string_view> unknown_name(std::string_view word, const TemplateWords& called) {
  for (std::size_t open = word.find('{'); open != std::string_view::npos;
       open = word.find('{', open + 1)) {
    if (open > 0 && word[open - 1] == '$') continue;
    const std::size_t close = word.find_first_of("{}", open + 1);
    if (close == std::string_view::npos) return std::nullopt;
    if (word[close] == '{') continue;
    const std::string_view found = word.substr(open, close + 1 - open);
    const std::string_view inside = found.substr(1, found.size() - 2);
    if (found != called.all && looks_like_a_name(inside) &&
        !parse_replacement(inside, called.names)) {
      return found;
    }
  }
  return std::nullopt;
}

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), kNamesListed); ++i) {
    text += (text.empty() ? "{" : " {") + names[i] + "}";
  }
  return names.size() > kNamesListed ? text + " ..." : text;
}

}  // namespace

Result<void> take_names(Source& source, std::string_view place, std::vector<std::string>& names) {
  if (source.rows.empty()) {
    return fail("--header: found an empty source, expected its first line to name its columns");
  }
  for (const std::string& name : source.rows.front()) {
    if (!name.empty() && std::ranges::find(names, name) != names.end()) {
      return fail(std::string(place) + ": --header: found two columns named \"" + name +
                  "\", expected a different name for each column");
    }
    names.push_back(name);
  }
  source.rows.erase(source.rows.begin());
  return {};
}

Result<void> check_width(const Source& source, const Row& row) {
  if (source.rows.empty() || row.size() == source.rows.front().size()) return {};
  return fail("found " + std::to_string(row.size()) + (row.size() == 1 ? " column" : " columns") +
              ", expected " + std::to_string(source.rows.front().size()) + ", as in the header");
}

Result<void> check_names(std::span<const std::string> words, const TemplateWords& called) {
  for (const std::string& word : words) {
    const auto found = unknown_name(word, called);
    if (!found) continue;
    return fail("the command: found \"" + std::string(*found) +
                "\", expected a column of --header, " + listed(called.names) +
                " (text in braces needs a blank: \"{ " + std::string(found->substr(1)) + "\")");
  }
  return {};
}

}  // namespace plimsoll::jobfile
