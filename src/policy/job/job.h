#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/limits.h"
#include "base/units.h"
#include "base/words.h"
#include "policy/job/tenant.h"

// What a job is and how an attempt of it ended: values that every part of the program speaks of.
namespace plimsoll::policy {

// How an attempt ended. First cause wins: recorded once, by whoever knew first.
enum class Outcome : std::uint8_t {
  exited,           // the main process ended by itself, with whatever code
  signalled,        // a signal that Plimsoll did not send for a reason of its own ended it
  over_limit,       // over its own memory limit
  over_line,        // alone and still past the line
  evicted,          // killed to free memory; runs again
  machine_oom,      // the kernel's OOM killer took it, its own limit not reached
  timed_out,        //
  cancelled,        // by the user: Ctrl-C, a halt, ctl kill
  failed_to_start,  //
  skipped,          // never started: a failed `needs`, a halt, Ctrl-C
};
std::string_view name_of(Outcome outcome);

using plimsoll::DeviceRate;
using plimsoll::Limits;

// A command as an argument vector, or as text for `/bin/sh -c`.
using Command = std::variant<Words, std::string>;

// Stands in a command for the number of the slot that the job will run in (`{%}` of a template),
// which only its start decides. No word of a command can hold this byte otherwise.
inline constexpr char kSlotMark = '\0';

// The command with every kSlotMark replaced by `slot`, as it is to be started.
[[nodiscard]] Command fill_slot(Command command, unsigned slot);

// One job as the user asked for it.
struct JobSpec {
  JobId id{};             // order of input, from 1
  std::string name;       // the user's "id", else the number
  std::string job_class;  // key of the history; empty: derived from the command
  Command command;
  std::string cwd;                                       // empty: Plimsoll's own
  std::vector<std::pair<std::string, std::string>> env;  // set or replaced for this job
  Limits limits;
  std::optional<Bytes> memory_hint;
  std::optional<double> cpu_hint;  // cores
  // The space of file systems that it takes at most at any time.
  std::optional<Bytes> disk_hint{};
  int priority = 0;  // higher starts earlier
  std::optional<Duration> timeout;
  unsigned retries = 0;  // further attempts after one that failed
  bool restartable = true;
  bool pausable = true;  // by the governor; else it is killed where others are paused
  // Jobs that run may wait for it, as the steps of one program do for each other: it starts, whatever
  // it needs, once nothing that runs makes progress.
  bool may_be_awaited = false;
  // So often it is started again if it is evicted or lost; absent: kLostAttemptsMax.
  std::optional<unsigned> restarts{};
  std::optional<unsigned> cap{};  // at most so many jobs of its class run at once; at least 1
  Tenant tenant = kHost;          // whose turn and share it takes
  std::string uid;                // "user", "user:group" or numbers; empty: Plimsoll's own
  std::string stdout_path, stderr_path;  // empty: collected by Plimsoll
  // A command that this job of the same run has started and waits for, as `plimsoll exec` does: it
  // takes no place of jobs, and ends once, however. So often the same command was evicted or lost
  // before, as another job.
  std::optional<JobId> part_of{};
  unsigned lost = 0;
  std::vector<JobId> needs;            // all lie before or after it in the same run; no cycle
  std::vector<std::string> arguments;  // the values that a template was filled with, for --tag
  // Whose past tells what it needs, where several users' are kept apart; absent: that of whoever
  // keeps the past.
  std::optional<std::uint32_t> owner{};
};

// The job with hints that the machine can follow. Of a larger one half is doubt that no calm of
// the job ever takes back, and everybody else would wait for what it can't have.
[[nodiscard]] JobSpec within_reach(JobSpec job, Bytes line, double cores);

// The command as one line that a shell would take, for people, logs and the job log. A slot that is
// not known yet is shown as `{%}`.
std::string command_line(const Command& command);
// Its beginning, for lists: costs no more, however long the command is.
std::string command_start(const Command& command, std::size_t bytes_max);

}  // namespace plimsoll::policy
