#pragma once

#include <string>

#include "policy/job.h"

// By what name a job's past is found.
namespace plimsoll::policy {

// From the narrowest to the widest that is expected to behave alike. What matches neither falls
// back to all that was ever seen.
struct Key {
  std::string exact;  // the class, or a signature of the whole command
  std::string tool;   // the program that does the work ("gcc", "samtools"); empty: not known
  bool operator==(const Key&) const = default;
};

// The key of a job: its class where the user gave one, else the signature of its command: tool,
// kind of work (`-c`, `sort`, `build`) and options, without paths, numbers and names of files. The
// tool is looked for behind what only starts others: `env`, `nice`, `timeout`, `ccache`, `sh -c`,
// an interpreter with a script. Pure and total: a command that makes no sense has a key all the
// same.
[[nodiscard]] Key key_of(const JobSpec& job);

// The same of a command alone.
[[nodiscard]] Key key_of(const Command& command);

}  // namespace plimsoll::policy
