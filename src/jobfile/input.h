#pragma once

#include <unistd.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "jobfile/format.h"
#include "jobfile/records.h"
#include "policy/job/job.h"

// What the user gives to `plimsoll batch`, turned into jobs. Start here: the other headers are the
// steps.
namespace plimsoll::jobfile {

struct InputOptions {
  // The job file; "-" is standard input. Neither this nor `words`: standard input.
  std::optional<std::string> file{};
  std::optional<Format> format{};  // --format, for a job file only; absent: as the file looks
  // What follows `--`: a command template and its sources. Absent: there was no `--`.
  std::optional<std::vector<std::string>> words{};
  std::vector<std::string> argument_files{};  // -a
  std::optional<std::string> colsep{};        // --colsep, a regular expression of RE2
  std::uint64_t max_args = 1;                 // -n: so many rows of values for one job
  std::string replaced = "{}";                // -I: stands for the values in the command
  bool header = false;                        // --header: each source begins with names
  Separator separator = Separator::newline;   // -0: of text job files and argument files
  policy::JobSpec defaults{};                 // what a job does not say itself
  int standard_input = STDIN_FILENO;          // borrowed
};

// What was read.
struct Input {
  std::vector<policy::JobSpec> jobs;
  std::vector<std::string> warnings;  // what was probably not meant; sentences for people
};

// Whether read_jobs() will read standard input.
[[nodiscard]] bool reads_standard_input(const InputOptions& options);

// All jobs, with ids 1, 2, 3, ... in the order of input; perhaps none. Reads files and standard
// input and blocks until it has their ends. An error names the file and line, or the option, what
// was found and what was expected; then nothing is to be started.
[[nodiscard]] Result<Input> read_jobs(const InputOptions& options);

}  // namespace plimsoll::jobfile
