#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "jobfile/replacement.h"
#include "policy/job/job.h"

namespace plimsoll::jobfile {

// What a template's replacement strings are called.
struct TemplateWords {
  std::string all = "{}";            // -I: what stands for the values; then `{}` is text
  std::vector<std::string> names{};  // --header: `{NAME}` is the value at its place, from 1
};

// What a command is made of once per job: the words after `--`, with replacement strings for the
// job's values (docs/formats/arguments.md).
class CommandTemplate {
 public:
  // No words: each job's values are its shell command, joined by blanks. One word: shell text, in
  // which values are quoted for the shell. Several: an argument vector, in which values are put as
  // they are. Without any replacement string the values are appended. `{=...=}`, which GNU parallel
  // runs as Perl, is an error.
  [[nodiscard]] static Result<CommandTemplate> parse(std::span<const std::string> words,
                                                     const TemplateWords& called = {});

  // The command of the job that has these values and is number `sequence` of its run; `{%}` becomes
  // policy::kSlotMark. Values hold no NUL. A position that the job has no value for is replaced by
  // nothing.
  [[nodiscard]] policy::Command fill(std::span<const std::string> values,
                                     std::uint64_t sequence) const;

  // A value that comes out with backslashes in it because the template has put quotes around its
  // place (`'{}'`), if there is one. Not where the quotes hold several words: they may be a program
  // for another shell, which takes the backslashes away.
  [[nodiscard]] std::optional<std::string> spoilt_by_quotes(
      std::span<const std::string> values) const;

 private:
  using Piece = std::variant<std::string, Replacement>;
  using Word = std::vector<Piece>;
  enum class Form : std::uint8_t { values, shell, words };

  static Word parse_word(std::string_view text, const TemplateWords& called);
  void find_quoted();

  Form form_ = Form::values;
  std::vector<Word> words_;          // one if form_ is shell, none if it is values
  std::vector<Replacement> quoted_;  // those of shell text that stand between quotes of its own
};

// Appends `value` to shell text as one word (or part of one) that any POSIX shell takes literally:
// backslashes before everything but plain characters, a newline in quotes, `''` for nothing.
// `value` holds no NUL.
//
// Backslashes rather than quotes around the whole: where a template has put double quotes around
// the place, `$`, backquotes and quotes of the value stay without effect all the same.
void append_shell_word(std::string& text, std::string_view value);

}  // namespace plimsoll::jobfile
