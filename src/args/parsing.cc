#include "args/parsing.h"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string_view>

#include "args/complaint.h"
#include "args/help.h"

namespace plimsoll::args {
namespace {

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
