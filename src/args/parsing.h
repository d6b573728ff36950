#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "args/command_line.h"
#include "base/result.h"

namespace plimsoll::args {

// How --help looks: lines of at most kHelpColumns columns, each option with what its value is. Of
// descriptions and footers prose is filled; lines that begin with a blank stay as they are.
class HelpFormatter final : public CLI::Formatter {
 public:
  // `further_usage`: a second line of usage, without "Usage:"; empty: there is none.
  explicit HelpFormatter(std::string further_usage = {})
      : further_usage_(std::move(further_usage)) {}

  std::string make_help(const CLI::App* app, std::string name,
                        CLI::AppFormatMode mode) const override;
  std::string make_option(const CLI::Option* option, bool is_positional) const override;
  std::string make_subcommand(const CLI::App* command) const override;
  std::string make_description(const CLI::App* app) const override;
  std::string make_footer(const CLI::App* app) const override;
  std::string make_usage(const CLI::App* app, std::string name) const override;

 private:
  std::string further_usage_;
};

inline constexpr std::size_t kHelpColumns = 80;

// The exit statuses of a command line that is not followed.
inline constexpr int kToldWhatWasAsked = 0;  // its help or the version
inline constexpr int kMistaken = 125;

// Adds an option whose value is parsed by one of our own parsers, and given to `take`; the parser's
// error becomes CLI11's, which names the option. What --help and errors call the value is for the
// caller to say: type_name().
template <class T, class Take>
CLI::Option* add_value(CLI::App& app, const std::string& name, Result<T> (*parse)(std::string_view),
                       Take take, const std::string& help) {
  const auto store = [take, parse](const std::string& text) {
    if (auto parsed = parse(text)) take(*parsed);
  };
  const auto check = [parse](const std::string& text) {
    const auto parsed = parse(text);
    return parsed ? std::string() : parsed.error().message();
  };
  return app.add_option_function<std::string>(name, store, help)->check(check);
}

// The same into a variable.
template <class T>
CLI::Option* add_parsed(CLI::App& app, const std::string& name, std::optional<T>& value,
                        Result<T> (*parse)(std::string_view), const std::string& help) {
  return add_value(app, name, parse, [&value](const T& parsed) { value = parsed; }, help);
}

// What --help and errors say of a command beyond what CLI11 knows of it.
struct Wording {
  std::string called{};         // what users type, in place of "plimsoll NAME"
  std::string further_usage{};  // as of HelpFormatter
  std::string followed_by{};    // the next word, which is not among those that are parsed
};

// Parses and tells what is wrong on standard error, or prints the help or the version. Of an option
// that is given twice the last one counts, unless it collects. A value is the exit status to leave
// with.
std::optional<int> parse_or_exit_status(CLI::App& app, std::vector<std::string> arguments,
                                        OptionHint hint = nullptr, const Wording& wording = {});

}  // namespace plimsoll::args
