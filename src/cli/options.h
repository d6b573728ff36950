#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/quantity.h"
#include "policy/job.h"

// What several subcommands read from the command line.
namespace plimsoll::cli {

// How much is said on standard error.
enum class Verbosity : std::uint8_t { quiet, normal, verbose };

// Adds an option whose value is parsed by one of our own parsers; its error becomes CLI11's, which
// names the option.
template <class T>
CLI::Option* add_parsed(CLI::App& app, const std::string& name, std::optional<T>& value,
                        Result<T> (*parse)(std::string_view), const std::string& help) {
  const auto check = [parse](const std::string& text) {
    auto parsed = parse(text);
    return parsed ? std::string() : parsed.error().message();
  };
  const auto store = [&value, parse](const std::string& text) {
    if (auto parsed = parse(text)) value = *parsed;
  };
  return app.add_option_function<std::string>(name, store, help)->check(check);
}

// The limits and circumstances of one job, as `run` takes them for its command and `batch` for each
// of its jobs. Writes into `job`, which must live until the parse.
void add_job_options(CLI::App& app, policy::JobSpec& job);

// "NAME=VALUE" or "NAME", which passes on the caller's own.
Result<std::pair<std::string, std::string>> parse_env(std::string_view text);

// "/dev/sda:rbps=10M,wiops=100" or "8:0:...".
Result<DeviceRate> parse_io_max(std::string_view text);

Result<double> parse_cpus(std::string_view text);
// The same as a quota, which can't be as small.
Result<double> parse_quota(std::string_view text);
Result<unsigned> parse_weight(std::string_view text);

// The command line cut at the first "--": options before, the command after. Without one,
// everything from the first word that is no option belongs to the command, which CLI11 then leaves
// over.
struct SplitArguments {
  std::vector<std::string> options;
  std::optional<std::vector<std::string>> command;
};
SplitArguments split_at_dashes(int argc, char** argv);

// Parses and tells what is wrong on standard error, or prints the help. A value is the exit status
// to leave with.
std::optional<int> parse_or_exit_status(CLI::App& app, std::vector<std::string> arguments);

}  // namespace plimsoll::cli
