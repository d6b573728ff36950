#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "args/parsing.h"
#include "base/quantity.h"
#include "policy/job/job.h"

// What several subcommands read from the command line.
namespace plimsoll::cli {

using args::add_parsed;
using args::add_value;
using args::parse_or_exit_status;

// How much is said on standard error.
enum class Verbosity : std::uint8_t { quiet, normal, verbose };

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
  // What is to be said of the options: args::Wording::followed_by.
  [[nodiscard]] std::string next() const { return command ? "--" : ""; }
};
SplitArguments split_at_dashes(int argc, char** argv);

// A whole number, and one that is not 0.
Result<std::uint64_t> parse_whole(std::string_view text);
Result<std::uint64_t> parse_count(std::string_view text);

// How nice a command is with all that it runs, for `run` and `batch`.
void add_nice_option(CLI::App& app, std::optional<std::int64_t>& nice);
// Makes this process so nice, before any other exists that is to be as well. Without a value
// nothing is changed.
Result<void> become_nice(const std::optional<std::int64_t>& nice);

// Group that a command works below, for `run`, `batch` and `doctor`.
void add_cgroup_option(CLI::App& app, std::optional<std::string>& path);

}  // namespace plimsoll::cli
