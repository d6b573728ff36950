#pragma once

#include <CLI/CLI.hpp>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// What the words of a command line are, told in our own words before CLI11 reads them: its errors
// name neither the option nor what was expected.
namespace plimsoll::args {

// An option that is known elsewhere, and what to say to who gives it here, or gives it without the
// value that it takes here; nothing: it is not known.
using OptionHint = std::optional<std::string> (*)(std::string_view option);

struct CommandLine {
  // Places of the words that are neither options nor values of options, the subcommand first if
  // there are any; with a prefix command only the first word of it.
  std::vector<std::size_t> plain;
  // The first mistake, as a sentence: then what follows it was not read.
  std::optional<std::string> mistake;
};

// Reads as CLI11 does. A mistake is an option that `app` does not have (with the one that was most
// likely meant, or its hint), one without its value, a subcommand that is none, or a word too many.
// After a word that asks for help only the subcommand that is meant may follow. `called`: what
// users type before these words, in place of "plimsoll NAME".
[[nodiscard]] CommandLine read_command_line(const CLI::App& app,
                                            const std::vector<std::string>& words,
                                            OptionHint hint = nullptr,
                                            const std::string& called = {});

// What is wrong with a word after one that nothing may follow.
[[nodiscard]] std::string unexpected_after(const std::string& last, const std::string& word);

}  // namespace plimsoll::args
