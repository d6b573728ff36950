#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <utility>

namespace plimsoll::args {

// How --help looks: lines of at most kHelpColumns columns, each option with what its value is. Of
// descriptions and footers prose is filled; lines that begin with a blank stay as they are.
class HelpFormatter final : public CLI::Formatter {
 public:
  // `further_usage`: a second line of usage, without "Usage:"; empty: there is none.
  explicit HelpFormatter(std::string further_usage = {})
      : further_usage_(std::move(further_usage)) {}

  std::string make_option(const CLI::Option* option, bool is_positional) const override;
  std::string make_subcommand(const CLI::App* command) const override;
  std::string make_description(const CLI::App* app) const override;
  std::string make_footer(const CLI::App* app) const override;
  std::string make_usage(const CLI::App* app, std::string name) const override;

 private:
  std::string further_usage_;
};

inline constexpr std::size_t kHelpColumns = 80;

}  // namespace plimsoll::args
