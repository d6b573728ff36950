#pragma once

#include <string>

#include "kernel/cgroup/group.h"
#include "kernel/counters/kernel_file.h"
#include "kernel/counters/usage.h"

namespace plimsoll::counters {

// The I/O counters of a group: io.stat of v2, or blkio of v1.
class IoFiles {
 public:
  explicit IoFiles(const cgroup::Group& group);

  // Brings the counters up to date; what can't be read stays as it is.
  void read(IoUsage& io, std::string& buffer);
  void note(Unavailable& unavailable) const;

 private:
  KernelFile stat_;    // v2
  KernelFile bytes_;   // v1
  KernelFile counts_;  // v1
  std::string missing_;
  bool counted_ = false;  // v1: a device has been named
};

}  // namespace plimsoll::counters
