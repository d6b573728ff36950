#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "kernel/cgroup/group.h"
#include "kernel/cgroup/processes.h"

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

// The same bit by bit, where others are to be served in between.
class StuckWalk {
 public:
  // `group` must outlive this.
  explicit StuckWalk(const Group& group) : members_(group, kReportedMax) {}

  // Looks into some directories, or at some processes. Returns whether anything is left.
  bool step();
  // Who was found; after the last step.
  std::vector<StuckProcess> take() { return std::move(stuck_); }

 private:
  MemberWalk members_;
  bool has_members_ = false;   // all that are looked for
  std::size_t looked_at_ = 0;  // of them
  std::vector<StuckProcess> stuck_;
};

}  // namespace plimsoll::cgroup
