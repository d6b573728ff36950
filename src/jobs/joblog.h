#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "policy/attempt.h"

// GNU parallel's job log, `--joblog`: one line for each job that has ended
// (docs/formats/joblog.md).
namespace plimsoll::jobs {

struct JoblogEntry {
  std::uint64_t sequence = 1;  // the job's number
  std::string host = ":";      // GNU parallel's word for this machine
  WallTime started{};          // kept to the millisecond
  Duration runtime{};          // kept to the millisecond
  std::uint64_t sent = 0;      // bytes; GNU parallel's own transfers
  std::uint64_t received = 0;  // bytes
  int exit_value = 0;          // of the main process; -1: timed out, or failed without a code
  int signal = 0;              // the number, 0 for none
  std::string command;         // as policy::command_line() has it
  bool operator==(const JoblogEntry&) const = default;
};

// The columns of an attempt's end. Both are 0 only if the job succeeded, which is what --resume
// goes by. A job that was skipped never started and has no line.
struct ExitColumns {
  int exit_value = 0;
  int signal = 0;
  bool operator==(const ExitColumns&) const = default;
};
[[nodiscard]] ExitColumns exit_columns(const policy::AttemptEnd& end);

// The first line of a log, and the line of one job; each with its newline. A newline in a command
// becomes a NUL, as in GNU parallel's own; a tab stays, since the command is the last column.
[[nodiscard]] std::string joblog_header();
[[nodiscard]] std::string joblog_line(const JoblogEntry& entry);

// The entries of a log in its order; an empty text has none. A last line without a newline was cut
// off when its writer died, and is dropped. Any other line that is not an entry is an error with
// file and line, as is another header.
[[nodiscard]] Result<std::vector<JoblogEntry>> parse_joblog(std::string_view text,
                                                            std::string_view file);

}  // namespace plimsoll::jobs
