#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/units.h"

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

// An own limit of one job, applied to its group. Absent means none.
struct DeviceRate {
  std::string device;  // "MAJ:MIN" or a path of a block device
  std::optional<Bytes> read_per_second, write_per_second;
  std::optional<std::uint64_t> read_ops_per_second, write_ops_per_second;
  bool operator==(const DeviceRate&) const = default;
};

struct Limits {
  std::optional<Bytes> memory_max;
  std::optional<Bytes> memory_high;
  std::optional<Bytes> swap_max;
  std::optional<double> cpus;          // quota, in cores
  std::optional<std::string> cpuset;   // a list such as "0-3,7"
  std::optional<unsigned> cpu_weight;  // 1..10000, 100 is the default of the kernel
  std::optional<unsigned> io_weight;   // 1..10000
  std::vector<DeviceRate> io_max;
  std::optional<std::uint64_t> pids_max;
  bool operator==(const Limits&) const = default;
};

// A command as an argument vector, or as text for `/bin/sh -c`.
using Command = std::variant<std::vector<std::string>, std::string>;

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
  int priority = 0;                // higher starts earlier
  std::optional<Duration> timeout;
  unsigned retries = 0;  // further attempts after one that failed
  bool restartable = true;
  std::string uid;                       // "user", "user:group" or numbers; empty: Plimsoll's own
  std::string stdout_path, stderr_path;  // empty: collected by Plimsoll
  std::vector<JobId> needs;              // all lie before or after it in the same run; no cycle
  std::vector<std::string> arguments;    // the values that a template was filled with, for --tag
};

// The command as one line that a shell would take, for people, logs and the job log.
std::string command_line(const Command& command);

}  // namespace plimsoll::policy
