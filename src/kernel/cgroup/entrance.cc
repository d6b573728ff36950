#include "kernel/cgroup/entrance.h"

#include <fcntl.h>

namespace plimsoll::cgroup {

Result<UniqueFd> open_v1_entrance(const Directory& directory) {
  return directory.open_file("tasks", O_WRONLY);
}

}  // namespace plimsoll::cgroup
