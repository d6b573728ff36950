#include "args/parsing.h"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string_view>

#include "args/complaint.h"
#include "base/text.h"

namespace plimsoll::args {
namespace {

// Where what an option does begins; a longer name has a line of its own.
constexpr std::size_t kTextColumn = 28;

// Appends words, in lines that begin at column `indent`; the line that `text` ends with has
// `column` columns already, no more than that. Newlines are blanks.
void append_words(std::string& text, std::size_t column, std::size_t indent,
                  std::string_view words) {
  text.append(indent - column, ' ');
  column = indent;
  while (!words.empty()) {
    const std::string_view word = words.substr(0, words.find_first_of(" \n"));
    words.remove_prefix(std::min(word.size() + 1, words.size()));
    if (column > indent && column + 1 + word.size() > kHelpColumns) {
      text += '\n';
      text.append(indent, ' ');
      column = indent;
    }
    if (column > indent) {
      text += ' ';
      ++column;
    }
    text += word;
    column += word.size();
  }
  text += '\n';
}

// Two columns: a name, and words that go on below themselves.
std::string row(const std::string& name, std::string_view words) {
  std::string text = "  " + name;
  std::size_t column = text.size();
  if (column + 2 > kTextColumn) {
    text += '\n';
    column = 0;
  }
  append_words(text, column, kTextColumn, words);
  return text;
}

// Prose is filled; lines that begin with a blank stay as they are.
std::string filled(std::string_view text) {
  std::string result, prose;
  const auto flush = [&] {
    if (!prose.empty()) append_words(result, 0, 0, prose);
    prose.clear();
  };
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    if (!line.empty() && line.front() != ' ') {
      prose += prose.empty() ? "" : " ";
      prose += line;
      continue;
    }
    flush();
    result += line;
    result += '\n';
  }
  flush();
  return result;
}

std::string value_of(const CLI::Option& option) {
  return option.get_items_expected_max() == 0 ? "" : " " + option.get_type_name();
}

// CLI11 would refuse the second of two.
void let_the_last_one_count(CLI::App& app) {
  for (CLI::Option* option : app.get_options(std::function<bool(CLI::Option*)>())) {
    if (option->nonpositional() && option->get_items_expected_max() == 1) {
      option->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
    }
  }
}

// CLI11 says "RUN is required".
std::string missing_text(std::string_view what, const std::string& typed) {
  return std::string(what.substr(0, what.find(" is required"))) + " is missing; see `" + typed +
         " --help`";
}

}  // namespace

// CLI11 sets a blank line both before a group of options and after it; before a footer some
// versions do.
std::string HelpFormatter::make_help(const CLI::App* app, std::string name,
                                     CLI::AppFormatMode mode) const {
  std::string text = Formatter::make_help(app, std::move(name), mode);
  for (std::size_t at = 0; (at = text.find("\n\n\n", at)) != std::string::npos;) text.erase(at, 1);
  return text;
}

std::string HelpFormatter::make_option(const CLI::Option* option, bool is_positional) const {
  std::string words = option->get_description();
  if (!option->get_envname().empty()) words += " (or $" + option->get_envname() + ")";
  if (is_positional) return row(option->get_name(true), words);
  if (option->get_required()) words += "; required";
  return row(option->get_name(false, true) + value_of(*option), words);
}

std::string HelpFormatter::make_subcommand(const CLI::App* command) const {
  std::string name = command->get_name();
  for (const CLI::Option* option : command->get_options()) {
    if (option->get_positional()) name += " " + option->get_name(true);
  }
  return row(name, command->get_description());
}

// Of what comes after the options CLI11 knows nothing.
std::string HelpFormatter::make_usage(const CLI::App* app, std::string name) const {
  std::string usage = Formatter::make_usage(app, name);
  const std::size_t end = usage.find_last_not_of('\n');
  if (app->get_prefix_command()) usage.insert(end + 1, " [--] COMMAND [ARG...]");
  if (further_usage_.empty()) return usage;
  const std::size_t indent = usage.find(name);
  return usage + std::string(indent, ' ') + further_usage_ + '\n';
}

std::string HelpFormatter::make_description(const CLI::App* app) const {
  return filled(app->get_description()) + "\n";
}

std::string HelpFormatter::make_footer(const CLI::App* app) const {
  std::string footer = filled(app->get_footer());
  if (!footer.empty()) footer.insert(0, 1, '\n');
  return footer;
}

std::optional<int> parse_or_exit_status(CLI::App& app, std::vector<std::string> arguments,
                                        OptionHint hint, const Wording& wording) {
  const auto failed = [&app](const std::string& what) {
    complain(app.get_name() + ": " + what);
    return kMistaken;
  };
  const std::string typed = wording.called.empty() ? "plimsoll " + app.get_name() : wording.called;
  const CommandLine line = read_command_line(app, arguments, hint, typed);
  if (line.mistake) return failed(*line.mistake);
  const std::string last = arguments.empty() ? std::string() : arguments.back();
  let_the_last_one_count(app);
  std::reverse(arguments.begin(), arguments.end());  // CLI11 takes them from the back
  try {
    app.parse(std::move(arguments));
  } catch (const CLI::CallForHelp&) {
    if (!wording.followed_by.empty()) return failed(unexpected_after(last, wording.followed_by));
    app.formatter(std::make_shared<HelpFormatter>(wording.further_usage));
    // Of a subcommand its own page is printed.
    for (CLI::App* command : app.get_subcommands(std::function<bool(CLI::App*)>())) {
      command->formatter(std::make_shared<HelpFormatter>());
    }
    app.name(typed);
    std::fputs(app.help().c_str(), stdout);
    return kToldWhatWasAsked;
  } catch (const CLI::CallForVersion& asked) {
    std::printf("%s\n", asked.what());
    return kToldWhatWasAsked;
  } catch (const CLI::RequiredError& error) {
    return failed(missing_text(error.what(), typed));
  } catch (const CLI::ParseError& error) {
    return failed(error.what());
  }
  return std::nullopt;
}

}  // namespace plimsoll::args
