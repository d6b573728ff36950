#include "kernel/cgroup/reclaim.h"

namespace plimsoll::cgroup {

Result<void> reclaim(const Directory& memory, Bytes amount) {
  if (memory.version() == Version::v1) return memory.write("memory.force_empty", "0");
  return memory.write("memory.reclaim", std::to_string(amount.count));
}

}  // namespace plimsoll::cgroup
