#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace plimsoll::args {

// How --help looks: lines of at most kHelpColumns columns, each option with what its value is. Of
// descriptions and footers prose is filled; lines that begin with a blank stay as they are.
class HelpFormatter final : public CLI::Formatter {
 public:
  std::string make_option(const CLI::Option* option, bool is_positional) const override;
  std::string make_subcommand(const CLI::App* command) const override;
  std::string make_description(const CLI::App* app) const override;
  std::string make_footer(const CLI::App* app) const override;
  std::string make_usage(const CLI::App* app, std::string name) const override;
};

inline constexpr std::size_t kHelpColumns = 80;

}  // namespace plimsoll::args
