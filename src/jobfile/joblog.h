#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "policy/job/attempt.h"

// GNU parallel's job log, `--joblog`: one line for each job that has ended
// (docs/formats/joblog.md).
namespace plimsoll::jobfile {

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

// Reads a log in pieces, of which it keeps the begin of a line at most. A line that is not an entry
// is an error with file and line, as is another header; but what stands after the last newline was
// cut off when its writer died (after a loss of power it may be NULs), and is no line at all.
class JoblogParser {
 public:
  explicit JoblogParser(std::string file) : file_(std::move(file)) {}

  // The next piece: the entries of the lines that end in it. No piece follows an error.
  [[nodiscard]] Result<std::vector<JoblogEntry>> add(std::string_view piece);
  // There is no more. What has no line at all is an error if it can't be a header that was cut off:
  // it is no log.
  Result<void> end();

  // The bytes of all whole lines; where the log should end.
  [[nodiscard]] std::uint64_t whole() const { return whole_; }

 private:
  Result<void> add_line(std::string_view line, std::vector<JoblogEntry>& entries);
  [[nodiscard]] Result<void> no_header(std::string_view found) const;

  std::string file_;
  std::string begun_;  // what there is of a line that has not ended, up to a limit
  std::uint64_t begun_bytes_ = 0;
  std::uint64_t whole_ = 0;
  std::size_t lines_ = 0;
};

}  // namespace plimsoll::jobfile
