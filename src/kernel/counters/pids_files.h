#pragma once

#include <string>

#include "kernel/cgroup/group.h"
#include "kernel/counters/kernel_file.h"
#include "kernel/counters/usage.h"

namespace plimsoll::counters {

// The process counters of a group; v1 and v2 have the same files. Threads count.
class PidsFiles {
 public:
  explicit PidsFiles(const cgroup::Group& group);

  // Brings the fields that this level reads up to date; what can't be read stays as it is.
  void read(Level level, PidsUsage& pids, std::string& buffer);
  void note(Unavailable& unavailable) const;

 private:
  KernelFile current_;
  KernelFile peak_;
  KernelFile events_;
  std::string missing_;
};

}  // namespace plimsoll::counters
