#include "supervisor/write_meter.h"

#include <algorithm>

#include "kernel/cgroup/processes.h"
#include "kernel/procfs/parse.h"

namespace plimsoll::supervisor {

std::optional<Bytes> WriteMeter::look(const procfs::ProcDir& proc, const cgroup::Group& group,
                                      Instant now, Duration gap) {
  if (looked_ && now < *looked_ + gap) return most_;
  looked_ = now;
  if (group.parts().empty()) return most_;
  const cgroup::Directory* v2 = group.v2();
  auto pids = cgroup::member_processes(v2 != nullptr ? *v2 : group.parts().front().directory);
  if (!pids) return most_;
  if (pids->size() > kProcessesMax) pids->resize(kProcessesMax);
  std::optional<Bytes> sum;
  for (const int pid : *pids) {
    const auto text = proc.read(pid, "io");
    const auto traffic = text ? procfs::parse_io(*text) : std::nullopt;
    if (traffic) sum = sum.value_or(Bytes{}) + traffic->written;
  }
  most_ = std::max(most_, sum);
  return most_;
}

}  // namespace plimsoll::supervisor
