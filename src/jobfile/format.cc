#include "jobfile/format.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "base/text.h"
#include "jobfile/place.h"

namespace plimsoll::jobfile {
namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

bool is_of_key(char c) { return is_letter(c) || is_digit(c) || c == '-' || c == '.'; }

std::string_view first_word(std::string_view line) {
  return line.substr(0, line.find_first_of(" \t"));
}

// "KEY:", which is the name of no program.
bool is_yaml_key(std::string_view word) {
  return word.size() > 1 && word.ends_with(':') && is_letter(word.front()) &&
         std::all_of(word.begin(), word.end() - 1, is_of_key);
}

bool is_yaml(std::string_view line) {
  if (line == "---" || line.starts_with("--- ")) return true;
  if (line.starts_with("- ")) line = trim(line.substr(2));
  return is_yaml_key(first_word(line));
}

bool is_ninja(std::string_view line) {
  const std::string_view word = first_word(line);
  const bool includes = (word == "include" || word == "subninja") && line.ends_with(".ninja");
  return word == "ninja_required_version" || word.starts_with("ninja_required_version=") ||
         word == "rule" || includes;
}

constexpr std::string_view kTable = "a table";

// Cells that may name columns: neither paths nor options nor anything that a shell takes for its
// own.
bool is_heading(std::string_view line) {
  while (!line.empty()) {
    const std::string_view cell = trim(take_until(line, '\t'));
    if (cell.empty() || !is_letter(cell.front())) return false;
    const auto is_plain = [](char c) {
      return is_letter(c) || is_digit(c) || c == '-' || c == ' ';
    };
    if (!std::all_of(cell.begin(), cell.end(), is_plain)) return false;
  }
  return true;
}

// Tabs between words could stand for blanks. But a heading names what is below it: there are as
// many cells, and the first is another one, where commands would be of the same program.
bool is_table(std::string_view line, std::string_view next) {
  const auto tabs = std::count(line.begin(), line.end(), '\t');
  const auto first_cell = [](std::string_view text) { return text.substr(0, text.find('\t')); };
  return tabs > 0 && is_heading(line) && std::count(next.begin(), next.end(), '\t') == tabs &&
         first_cell(next) != first_cell(line);
}

// `<file sort >sorted` is a command.
bool is_markup(std::string_view line) {
  if (line.size() < 2 || line.front() != '<') return false;
  if (line[1] == '!' || line[1] == '?') return true;
  return is_letter(line[1]) && (line.ends_with('>') || line.find("=\"") != line.npos);
}

// What a file of this name is; nothing if the name does not say it.
std::string_view kind_by_name(std::string_view file) {
  const std::string_view name = file.substr(file.rfind('/') + 1);
  if (name.ends_with(".ninja")) return "a build file of ninja";
  if (name.ends_with(".tsv") || name.ends_with(".csv")) return kTable;
  if (name == "Makefile" || name == "makefile" || name == "GNUmakefile") return "a makefile";
  return name == "CMakeLists.txt" ? "a file of CMake" : "";
}

// `next` is the line after it; empty: there is none.
std::string_view kind_by_line(std::string_view line, std::string_view next) {
  if (is_yaml(line)) return "YAML";
  if (is_ninja(line)) return "a build file of ninja";
  if (is_table(line, next)) return kTable;
  return is_markup(line) ? "HTML or XML" : "";
}

std::string refusal(std::string_view kind) {
  const std::string instead =
      kind == kTable ? "-a FILE --colsep REGEX -- COMMAND reads tables; " : "";
  return "found " + std::string(kind) +
         ", expected one shell command or one JSON object per line (" + instead +
         "--format text runs each line as a command)";
}

struct Line {
  std::string_view text;  // without blanks around it
  std::size_t number = 1;
};

// The first line that is neither blank nor a comment; nothing if there is none.
std::optional<Line> first_line(std::string_view text) {
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::string_view line = trim(take_line(text));
    if (!line.empty() && !line.starts_with('#')) return Line{line, number};
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

Result<void> check_is_not_foreign(std::string_view text, std::string_view file) {
  if (const auto kind = kind_by_name(file); !kind.empty()) {
    return fail(std::string(file) + ": " + refusal(kind));
  }
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::string_view line = trim(take_line(text));
    if (line.empty() || line.starts_with('#')) continue;
    if (const auto kind = kind_by_line(line, take_line(text)); !kind.empty()) {
      return fail_at({file, number}, refusal(kind));
    }
    return {};
  }
  return {};
}

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
