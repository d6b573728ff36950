#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "kernel/cgroup/group.h"

// Processes of a group as reports and messages name them. From the files of /proc that never wait
// for the process' memory to be paged in: not its command line, not its environment.
namespace plimsoll::cgroup {

struct LeftProcess {
  int pid = 0;
  std::string comm;  // at most 15 bytes, as the process has set it
};

// A process that is still there after the kill, and what it waits for.
struct StuckProcess {
  int pid = 0;
  std::string comm;
  // The state letter of proc(5): D waits for a device and dies after, R gets no CPU time, T or t is
  // held by a debugger. Of a process with several threads, of the one that holds it up.
  char state = '?';
  // The kernel function it sleeps in; empty if it runs or the kernel does not tell.
  std::string wchan;
};

// Processes that one report names. More do not help a reader, and reading them takes time.
inline constexpr std::size_t kReportedMax = 64;

// These processes; those that end while they are looked at are left out.
std::vector<LeftProcess> left_processes(const std::vector<int>& pids);
// Of a group and everything below it, the first kReportedMax that are found.
std::vector<StuckProcess> stuck_processes(const Group& group);

}  // namespace plimsoll::cgroup
