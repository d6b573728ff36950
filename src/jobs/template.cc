#include "jobs/template.h"

#include <algorithm>

#include "jobs/shell_word.h"

namespace plimsoll::jobs {
namespace {

// The longest replacement string with its braces: sign, six digits, part.
constexpr std::size_t kReplacementBytesMax = 11;

using Values = std::span<const std::string>;

Values chosen(const Replacement& replacement, Values values) {
  if (replacement.what != Replacement::What::one) return values;
  const auto index = index_of(replacement.position, values.size());
  return index ? values.subspan(*index, 1) : Values{};
}

// How a value is put into a word.
using Append = void (*)(std::string&, std::string_view);

void append_as_is(std::string& text, std::string_view value) { text += value; }

void append_replacement(std::string& text, const Replacement& replacement, Values values,
                        std::uint64_t sequence, Append append) {
  if (replacement.what == Replacement::What::sequence) {
    text += std::to_string(sequence);
    return;
  }
  if (replacement.what == Replacement::What::slot) {
    text += policy::kSlotMark;
    return;
  }
  bool first = true;
  for (const std::string& value : chosen(replacement, values)) {
    if (!first) text += ' ';
    first = false;
    append(text, part_of(value, replacement.part));
  }
}

// A word that is nothing but `{}` or a sibling of it becomes a word for each value.
const Replacement* all_values(const std::vector<std::variant<std::string, Replacement>>& word) {
  if (word.size() != 1) return nullptr;
  const auto* replacement = std::get_if<Replacement>(&word.front());
  return replacement && replacement->what == Replacement::What::all ? replacement : nullptr;
}

}  // namespace

Result<CommandTemplate::Word> CommandTemplate::parse_word(std::string_view text) {
  Word word;
  std::string literal;
  const auto flush = [&] {
    if (!literal.empty()) word.emplace_back(std::move(literal));
    literal.clear();
  };
  while (!text.empty()) {
    const std::size_t open = std::min(text.find('{'), text.size());
    literal += text.substr(0, open);
    text.remove_prefix(open);
    if (text.empty()) break;
    if (text.starts_with("{=") && text.find("=}", 2) != std::string_view::npos) {
      return fail("found \"" + std::string(text.substr(0, text.find("=}", 2) + 2)) +
                  "\", expected one of {} {.} {/} {//} {/.} {#} {%} {1} {-1}: Perl expressions are "
                  "not known here");
    }
    const std::size_t close = text.substr(0, kReplacementBytesMax).find('}');
    const auto replacement = close == std::string_view::npos
                                 ? std::nullopt
                                 : parse_replacement(text.substr(1, close - 1));
    if (replacement) {
      flush();
      word.emplace_back(*replacement);
      text.remove_prefix(close + 1);
    } else {
      literal += '{';
      text.remove_prefix(1);
    }
  }
  flush();
  return word;
}

Result<CommandTemplate> CommandTemplate::parse(std::span<const std::string> words) {
  CommandTemplate result;
  if (words.empty()) return result;
  result.form_ = words.size() == 1 ? Form::shell : Form::words;
  bool replaces = false;
  for (const std::string& text : words) {
    auto word = parse_word(text);
    if (!word) return pass(std::move(word), "the command");
    replaces = replaces || std::any_of(word->begin(), word->end(), [](const Piece& piece) {
                 return std::holds_alternative<Replacement>(piece);
               });
    result.words_.push_back(std::move(*word));
  }
  if (replaces) return result;
  if (result.form_ == Form::shell) {
    result.words_.front().emplace_back(std::string(" "));
    result.words_.front().emplace_back(Replacement{});
  } else {
    result.words_.push_back({Replacement{}});
  }
  return result;
}

policy::Command CommandTemplate::fill(Values values, std::uint64_t sequence) const {
  const auto fill_word = [&](const Word& word, Append append) {
    std::string text;
    for (const Piece& piece : word) {
      if (const auto* literal = std::get_if<std::string>(&piece)) {
        text += *literal;
      } else {
        append_replacement(text, std::get<Replacement>(piece), values, sequence, append);
      }
    }
    return text;
  };
  if (form_ == Form::values) return fill_word({Replacement{}}, append_as_is);
  if (form_ == Form::shell) return fill_word(words_.front(), append_shell_word);
  std::vector<std::string> argv;
  for (const Word& word : words_) {
    if (const Replacement* replacement = all_values(word)) {
      for (const std::string& value : values) argv.emplace_back(part_of(value, replacement->part));
    } else {
      argv.push_back(fill_word(word, append_as_is));
    }
  }
  return argv;
}

}  // namespace plimsoll::jobs
