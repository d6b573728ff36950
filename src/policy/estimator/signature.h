#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/job/job.h"

// By what name a job's past is found.
namespace plimsoll::policy {

// From the narrowest to the widest that is expected to behave alike. What matches neither falls
// back to all that was ever seen.
struct Key {
  std::string exact;  // the class, or a signature of the whole command
  std::string tool;   // the program that does the work ("gcc", "samtools"); empty: not known
  // A digest of the very command, narrower than all else; 0: not known.
  std::uint64_t command{};
  // A user whose past is his alone, by uid; absent: whoever keeps the past.
  std::optional<std::uint32_t> owner{};
  bool operator==(const Key&) const = default;
};

// The key of a job: its class where the user gave one, else the signature of its command: tool,
// kind of work (`-c`, `sort`, `build`) and options, without paths, numbers and names of files. The
// tool is looked for behind what only starts others: `env`, `nice`, `timeout`, `ccache`, `sh -c`,
// an interpreter with a script. Pure and total: a command that makes no sense has a key all the
// same.
//
// The same command again is one with the same words in the same directory, of the same class, with
// the same environment of its own and the same id, if the user gave one. `directory` is where a job
// without a directory of its own runs. A job without a command has no digest.
[[nodiscard]] Key key_of(const JobSpec& job, std::string_view directory = {});

// The same of a command alone, without a digest.
[[nodiscard]] Key key_of(const Command& command);

// What is known of one job beside its key.
struct JobFacts {
  std::optional<Bytes> memory_hint{};  // what the user expects; ignored once the class has a past
  std::optional<double> cpu_hint{};    // cores, likewise
  // The user's word goes before the past: of what is written again and again in the same place the
  // past knows only the sum.
  std::optional<Bytes> disk_hint{};
  std::optional<Bytes> input{};   // what it has to read
  std::vector<double> numbers{};  // of its arguments, as numbers_of() has them
  // The most that an earlier, evicted attempt of this very job was seen to use: it needs more.
  std::optional<Bytes> reached{};
  // Its own limits, which bound whatever is believed of it.
  std::optional<Bytes> memory_max{};
  std::optional<double> cpus{};
};

}  // namespace plimsoll::policy
