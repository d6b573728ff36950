#include "jobfile/template.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace plimsoll::jobfile {
namespace {

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

// What `text` begins with, and its length: a replacement string, or else what is text.
std::pair<std::optional<Replacement>, std::size_t> replacement_at(std::string_view text,
                                                                  const TemplateWords& called) {
  if (text.starts_with(called.all)) return {Replacement{}, called.all.size()};
  if (text.front() != '{') return {std::nullopt, 1};
  // No brace is within a replacement string: of many that are open each looks as far as the next.
  const std::size_t close = text.find_first_of("{}", 1);
  if (close == std::string_view::npos || text[close] == '{') return {std::nullopt, 1};
  const auto replacement = parse_replacement(text.substr(1, close - 1), called.names);
  if (!replacement || *replacement == Replacement{}) return {std::nullopt, 1};
  return {replacement, close + 1};
}

// A word that is nothing but `{}` or a sibling of it becomes a word for each value.
const Replacement* all_values(const std::vector<std::variant<std::string, Replacement>>& word) {
  if (word.size() != 1) return nullptr;
  const auto* replacement = std::get_if<Replacement>(&word.front());
  return replacement && replacement->what == Replacement::What::all ? replacement : nullptr;
}

// `{=...=}`, which the caller's shell has cut into words if it was not quoted.
Result<void> refuse_perl(std::span<const std::string> words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  const std::size_t open = text.find("{=");
  if (open == std::string::npos) return {};
  const std::size_t close = text.find("=}", open + 2);
  if (close == std::string::npos) return {};
  return fail("found \"" + text.substr(open, close + 2 - open) +
              "\", expected one of {} {.} {/} {//} {/.} {#} {%} {1} {-1}: Perl expressions are not "
              "supported");
}

// Follows shell text through its quotes.
class Quotes {
 public:
  enum class Step : std::uint8_t { inside, opens, closes, outside };

  Step take(char c) {
    if (std::exchange(escaped_, false)) return quote_ == 0 ? Step::outside : Step::inside;
    if (c == '\\' && quote_ != '\'') {
      escaped_ = true;
      return quote_ == 0 ? Step::outside : Step::inside;
    }
    if (quote_ == 0 && (c == '\'' || c == '"')) {
      quote_ = c;
      return Step::opens;
    }
    if (quote_ != 0 && c == quote_) {
      quote_ = 0;
      return Step::closes;
    }
    return quote_ == 0 ? Step::outside : Step::inside;
  }
  [[nodiscard]] bool open() const { return quote_ != 0; }

 private:
  char quote_ = 0;  // 0: outside
  bool escaped_ = false;
};

// Bytes above ASCII are parts of letters; a backslash between them would break the letter in shells
// that know of encodings.
bool plain(char c) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+./:,@%";
  return static_cast<unsigned char>(c) >= 0x80 || kPlain.find(c) != std::string_view::npos;
}

}  // namespace

CommandTemplate::Word CommandTemplate::parse_word(std::string_view text,
                                                  const TemplateWords& called) {
  const std::string begins = {'{', called.all.front()};
  Word word;
  std::string literal;
  const auto flush = [&] {
    if (!literal.empty()) word.emplace_back(std::move(literal));
    literal.clear();
  };
  while (!text.empty()) {
    const std::size_t open = std::min(text.find_first_of(begins), text.size());
    literal += text.substr(0, open);
    text.remove_prefix(open);
    if (text.empty()) break;
    const auto [replacement, length] = replacement_at(text, called);
    if (replacement) {
      flush();
      word.emplace_back(*replacement);
    } else {
      literal += text.substr(0, length);
    }
    text.remove_prefix(length);
  }
  flush();
  return word;
}

Result<CommandTemplate> CommandTemplate::parse(std::span<const std::string> words,
                                               const TemplateWords& called) {
  PLIMSOLL_CHECK(!called.all.empty());
  CommandTemplate result;
  if (words.empty()) return result;
  if (auto plain = refuse_perl(words); !plain) return pass(std::move(plain), "the command");
  result.form_ = words.size() == 1 ? Form::shell : Form::words;
  bool replaces = false;
  for (const std::string& text : words) {
    Word word = parse_word(text, called);
    replaces = replaces || std::any_of(word.begin(), word.end(), [](const Piece& piece) {
                 return std::holds_alternative<Replacement>(piece);
               });
    result.words_.push_back(std::move(word));
  }
  if (result.form_ == Form::shell) result.find_quoted();
  if (replaces) return result;
  if (result.form_ == Form::shell) {
    result.words_.front().emplace_back(std::string(" "));
    result.words_.front().emplace_back(Replacement{});
  } else {
    result.words_.push_back({Replacement{}});
  }
  return result;
}

void CommandTemplate::find_quoted() {
  Quotes quotes;
  std::vector<Replacement> inside;  // of the quotes that are open
  bool one_word = true;
  for (const Piece& piece : words_.front()) {
    if (const auto* replacement = std::get_if<Replacement>(&piece)) {
      using What = Replacement::What;
      const bool is_value = replacement->what == What::all || replacement->what == What::one;
      if (quotes.open() && is_value) inside.push_back(*replacement);
      continue;
    }
    for (const char c : std::get<std::string>(piece)) {
      const Quotes::Step step = quotes.take(c);
      if (step == Quotes::Step::inside) one_word = one_word && c != ' ' && c != '\n';
      if (step == Quotes::Step::closes && one_word) {
        quoted_.insert(quoted_.end(), inside.begin(), inside.end());
      }
      if (step != Quotes::Step::inside) {
        inside.clear();
        one_word = true;
      }
    }
  }
}

std::optional<std::string> CommandTemplate::spoilt_by_quotes(Values values) const {
  for (const Replacement& replacement : quoted_) {
    for (const std::string& value : chosen(replacement, values)) {
      const std::string part(part_of(value, replacement.part));
      std::string word;
      append_shell_word(word, part);
      if (!part.empty() && word != part) return part;
    }
  }
  return std::nullopt;
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

void append_shell_word(std::string& text, std::string_view value) {
  if (value.empty()) text += "''";
  for (const char c : value) {
    if (c == '\n') {
      text += "'\n'";  // after a backslash a newline would vanish
      continue;
    }
    if (!plain(c)) text += '\\';
    text += c;
  }
}

}  // namespace plimsoll::jobfile
