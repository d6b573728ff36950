#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"
#include "kernel/counters/usage.h"
#include "policy/estimator/calibration.h"
#include "policy/job/job.h"
#include "policy/job/oom.h"

// What is told of a job and of a run when they have ended: the values behind the job report and the
// run summary (docs/formats/). The engine fills them. Absent means that it is not known, or does
// not apply; it is left out of every output and never shown as zero.
namespace plimsoll::report {

// Where a process was at the end of its job, and what became of it.
enum class LeftFate : std::uint8_t {
  killed,    // in the job's group
  had_left,  // it had left that, and was killed
  lives,     // it could not be killed
};

// A process other than the main one that was still there at the end.
struct LeftBehind {
  std::int64_t pid = 0;
  std::string comm;  // the kernel's short name of it; any bytes
  LeftFate fate = LeftFate::killed;
};

// One execution of a job, in short.
struct AttemptReport {
  policy::Outcome outcome{};
  WallTime started{};
  std::optional<Duration> wall{};
  std::optional<Duration> cpu_usage{};
  std::optional<Bytes> peak{};
  std::optional<policy::OomVerdict> oom{};  // what the kernel's OOM killer did to it
};

struct JobTimes {
  WallTime queued{};
  std::optional<WallTime> started{};  // of the last attempt
  std::optional<WallTime> ended{};    // of the last attempt
  std::optional<Duration> wall{};     // of the last attempt
  std::optional<Duration> held{};     // time it waited to be started, all attempts together
  std::optional<Duration> paused{};   // time it was frozen, all attempts together
};

// What wait4(2) tells of the main process and its waited-for children.
struct RusageReport {
  // Of the largest process. Absent where the kernel's figure has that of the process in it which
  // has made it, and which was larger.
  std::optional<Bytes> maxrss{};
  std::uint64_t minor_faults = 0;
  std::uint64_t major_faults = 0;
  std::uint64_t voluntary_switches = 0;
  std::uint64_t involuntary_switches = 0;
  std::uint64_t in_blocks = 0;
  std::uint64_t out_blocks = 0;
};

// How groups of this host are made; `process` is a host without any writable cgroup.
enum class HostHierarchy : std::uint8_t { v2, hybrid, v1, process };
[[nodiscard]] std::string_view name_of(HostHierarchy hierarchy);

// An object of System V IPC, or a POSIX message queue, that outlives a job.
enum class IpcFate : std::uint8_t { left, removed };
struct IpcLeft {
  std::string kind;  // as procfs::name_of()
  std::string name;  // an id, or a name
  std::optional<Bytes> size{};
  IpcFate fate{};
};

struct HostInfo {
  std::string hostname;
  std::string kernel;  // release, as uname(2) has it
  std::uint64_t cpus = 0;
  Bytes memory{};
  HostHierarchy hierarchy{};
};

// The files that a job's output is in; empty: in none that is known.
struct OutputPaths {
  std::string out, err;
};

// The end of one job. Figures without an attempt of their own are the last attempt's.
struct JobReport {
  std::string id;            // as given, else the number of the job
  std::uint64_t number = 0;  // in the order of input, from 1; 0: not known
  std::string job_class;     // as given, else as derived from the command
  policy::Command command;
  // How many words the command had, where only its first are here.
  std::optional<std::uint64_t> argv_words{};
  std::string cwd;  // empty: not known
  OutputPaths output;
  std::vector<std::string> needs;  // ids of jobs of the same run that had to succeed before
  int priority = 0;

  policy::Outcome outcome{};
  std::optional<int> exit_code{};  // of the main process; at most one of these two is present
  std::optional<int> signal{};     // the number; outputs have its name
  std::string reason;              // a sentence with numbers; empty if it exited by itself
  std::vector<LeftBehind> left_behind;
  std::vector<IpcLeft> ipc_left;
  std::vector<AttemptReport> attempts;  // in order; empty if it never started

  std::optional<policy::OomVerdict> oom{};  // of the last attempt

  JobTimes times;
  std::optional<counters::JobUsage> usage{};
  std::optional<RusageReport> rusage{};
  std::optional<counters::MachineUsage> machine{};
  std::optional<HostInfo> host{};
  // Keys of the report that could not be had, and why; joined with usage->unavailable in outputs,
  // where this one wins.
  counters::Unavailable unavailable;
};

// A memory monitor of the run: which, why this one, and how it fares.
struct MonitorReport {
  std::string name;
  std::string why;
  std::string health;
};

// The kernel's limits at the line of the run's pool.
struct PoolLimitsReport {
  std::optional<Bytes> high{};  // throttles (v2)
  std::optional<Bytes> max{};   // kills; absent where the machine's own end is as near
  std::uint64_t stalls = 0;     // times that jobs were paused because Plimsoll itself stood still
  Duration stalled{};           // in all
  // Of the pool: while it is throttled nobody there goes on.
  counters::MachineUsage::Stall pressure{};
};

// How a command ended whose steps the jobs of a run were (`plimsoll govern`).
struct CommandReport {
  policy::Outcome outcome{};
  std::optional<int> exit_code{};  // at most one of these two is present
  std::optional<int> signal{};
  std::string reason;                  // as of a job
  std::uint64_t small_steps = 0;       // without a group and a report of their own
  std::uint64_t held_steps = 0;        // did not start at once
  std::uint64_t killed_steps = 0;      // for want of memory
  std::uint64_t steps_again = 0;       // times that a launcher was to run a killed one again
  std::uint64_t reruns = 0;            // of the command
  std::uint64_t tokens_recovered = 0;  // of the jobserver, from clients that were killed
  std::string why_whole;               // why it was measured as a whole, if it was
  std::string why_watched{};           // why steps were found by looks at /proc, if they were
};

// The end of a whole run.
struct RunSummary {
  std::string run;  // id
  std::optional<Duration> makespan{};
  std::uint64_t jobs = 0;                             // steps, if there is a command
  std::uint64_t job_commands = 0;                     // that were governed apart from them
  std::map<policy::Outcome, std::uint64_t> outcomes;  // only those that occurred
  std::uint64_t succeeded = 0;                        // of those that exited
  std::optional<CommandReport> command{};
  std::uint64_t holds = 0;
  std::uint64_t pauses = 0;
  std::uint64_t evictions = 0;
  std::optional<Duration> lost_cpu{};  // CPU time of attempts that were thrown away
  std::optional<Bytes> line{};
  std::optional<Bytes> used_peak{};
  std::optional<PoolLimitsReport> wall{};
  policy::Calibration calibration;  // of attempts that ended by themselves
  std::vector<MonitorReport> monitors;
  Instant started{};  // what t_ns of the system samples counts from
  std::vector<counters::SystemSample> system_samples;  // bounded, in order
  std::optional<std::uint64_t> oom_kills{};            // by the kernel, in the pool
  std::optional<Duration> cpu_usage{};                 // of all attempts
  std::optional<counters::MachineUsage> machine{};
  // That other programs used on average; absent of runs of less than a second. And of how many.
  std::optional<double> cores_of_others{}, cores_of_machine{};
  counters::Unavailable unavailable;
};

}  // namespace plimsoll::report
