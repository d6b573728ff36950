#include "supervisor/write_meter.h"

#include <algorithm>

#include "kernel/cgroup/processes.h"
#include "kernel/procfs/parse.h"

namespace plimsoll::supervisor {

std::size_t WriteMeter::look(const procfs::ProcDir& proc, const cgroup::Group& group, Instant now) {
  looked_ = now;
  if (group.parts().empty()) return 0;
  const cgroup::Directory* v2 = group.v2();
  const cgroup::SomeProcesses some = cgroup::some_processes_below(
      v2 != nullptr ? *v2 : group.parts().front().directory, kProcessesMax);
  std::optional<Bytes> sum;
  for (const int pid : some.pids) {
    const auto text = proc.read(pid, "io");
    const auto traffic = text ? procfs::parse_io(*text) : std::nullopt;
    if (traffic) sum = sum.value_or(Bytes{}) + traffic->written;
  }
  most_ = std::max(most_, sum);
  return some.pids.size() + some.groups - 1;
}

}  // namespace plimsoll::supervisor
