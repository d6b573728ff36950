#pragma once

#include <optional>
#include <string>

#include "cgroup/group.h"
#include "measure/memory_files.h"
#include "measure/usage.h"
#include "policy/observation.h"

namespace plimsoll::engine {

// What the governor is told of pool and machine: looks, and the differences between them.
class PoolSampler {
 public:
  explicit PoolSampler(const cgroup::Group& pool) : memory_(pool) {}

  // One look, with `machine` as the machine is now. About 15 us.
  [[nodiscard]] policy::MachineSample look(const measure::SystemSample& machine);

  // The highest `used` that was seen.
  [[nodiscard]] Bytes peak() const { return peak_; }

 private:
  measure::MemoryFiles memory_;
  measure::MemoryUsage usage_;
  std::string buffer_;
  std::optional<measure::SystemSample> last_;
  Bytes peak_{};
};

}  // namespace plimsoll::engine
