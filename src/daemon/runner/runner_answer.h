#pragma once

#include <sys/resource.h>

#include <cstdint>
#include <optional>
#include <string>

#include "base/units.h"
#include "daemon/grpc/status.h"
#include "supervisor/attempt.h"

namespace plimsoll::daemon {

// What the message POSIXResourceUsage is made of.
struct PosixUsage {
  rusage usage{};                  // of the main process and what it waited for
  std::string termination_signal;  // without "SIG"; empty: none, or one without a name
};

// What the message CgroupResourceUsage is made of: of the action's own group, from its birth to its
// end. What the host can't tell is 0, as the message has no other word for it.
struct CgroupUsage {
  struct Events {
    std::uint64_t low = 0, high = 0, max = 0, oom = 0, oom_kill = 0, oom_group_kill = 0;
    bool operator==(const Events&) const = default;
  } events;
  Bytes peak{};
  struct Stall {
    Duration some{}, full{};
    bool operator==(const Stall&) const = default;
  };
  Stall memory, cpu, io;
  bool operator==(const CgroupUsage&) const = default;
};

// How an action's call ends. A status that is not ok goes without the rest.
struct RunAnswer {
  Status status{};
  std::int64_t exit_code = 0;
  PosixUsage posix{};
  std::optional<CgroupUsage> cgroup{};
};

// The exit code of an action that a signal ended.
inline constexpr std::int64_t kSignalledExitCode = -1;

// What the worker is told of an attempt. An exit code is never altered; a failure that is the
// machine's and not the action's is UNAVAILABLE, for another try.
RunAnswer answer_of(const supervisor::AttemptResult& result);

// The group's own numbers.
CgroupUsage cgroup_usage_of(const counters::JobUsage& usage);

}  // namespace plimsoll::daemon
