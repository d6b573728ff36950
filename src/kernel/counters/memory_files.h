#pragma once

#include <string>

#include "kernel/cgroup/group.h"
#include "kernel/counters/kernel_file.h"
#include "kernel/counters/usage.h"

namespace plimsoll::counters {

// The memory counters of a group, from the memory controller on v2 or on v1.
class MemoryFiles {
 public:
  explicit MemoryFiles(const cgroup::Group& group);

  // Brings the fields that this level reads up to date; what can't be read stays as it is.
  void read(Level level, MemoryUsage& memory, std::string& buffer);
  // The same in two steps: `current`, and all else.
  void read_current(MemoryUsage& memory, std::string& buffer);
  void read_rest(Level level, MemoryUsage& memory, std::string& buffer);
  // memory.stat alone, and what rests on it.
  void read_stat(MemoryUsage& memory, std::string& buffer);
  // Has the peak begin again from what is in use now. Whether it does; true where there is none.
  [[nodiscard]] bool reset_peak(const cgroup::Group& group);
  [[nodiscard]] bool gone() const { return current_.gone(); }
  // KernelFile::has_failed() of any.
  [[nodiscard]] bool has_failed() const;
  void note(Unavailable& unavailable) const;

 private:
  void open_v2(const cgroup::Directory& directory);
  void open_v1(const cgroup::Directory& directory);

  cgroup::Version version_{};
  KernelFile current_;
  KernelFile peak_;
  KernelFile events_;      // memory.events, or memory.oom_control on v1
  KernelFile limit_hits_;  // v1
  KernelFile stat_;
  KernelFile kernel_memory_;  // v1
  KernelFile swap_current_;   // v2
  KernelFile swap_peak_;      // v2
  KernelFile max_;
  std::string missing_;  // why there is nothing at all; empty: there is
};

}  // namespace plimsoll::counters
