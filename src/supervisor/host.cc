#include "supervisor/host.h"

#include <sched.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "kernel/cgroup/directory.h"

namespace plimsoll::supervisor {
namespace {

unsigned cores_by_affinity() {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  if (::sched_getaffinity(0, sizeof cpus, &cpus) != 0) return 1;
  return static_cast<unsigned>(std::max(CPU_COUNT(&cpus), 1));
}

// The quota of one group in cores, if it has one.
std::optional<double> quota_of(const cgroup::Directory& directory) {
  std::optional<std::uint64_t> quota, period;
  if (directory.version() == cgroup::Version::v2) {
    const auto text = directory.read("cpu.max");  // "max 100000" or "150000 100000"
    if (!text) return std::nullopt;
    std::string_view rest = trim(*text);
    quota = to_u64(take_until(rest, ' '));
    period = to_u64(rest);
  } else {
    const auto quota_text = directory.read("cpu.cfs_quota_us");  // -1 is none
    const auto period_text = directory.read("cpu.cfs_period_us");
    if (!quota_text || !period_text) return std::nullopt;
    quota = to_u64(trim(*quota_text));
    period = to_u64(trim(*period_text));
  }
  if (!quota || !period || *period == 0) return std::nullopt;
  return static_cast<double>(*quota) / static_cast<double>(*period);
}

report::HostHierarchy report_name(const Supervisor& supervisor) {
  if (supervisor.why_process_mode()) return report::HostHierarchy::process;
  switch (supervisor.hierarchies().layout()) {
    case cgroup::Layout::v2: return report::HostHierarchy::v2;
    case cgroup::Layout::hybrid: return report::HostHierarchy::hybrid;
    case cgroup::Layout::v1: return report::HostHierarchy::v1;
  }
  return report::HostHierarchy::process;
}

}  // namespace

Bytes memory_of_host() {
  struct sysinfo info{};
  if (::sysinfo(&info) != 0) return {};
  return {std::uint64_t{info.totalram} * info.mem_unit};
}

report::HostInfo describe_host(const Supervisor& supervisor) {
  report::HostInfo host;
  utsname names{};
  if (::uname(&names) == 0) {
    host.hostname = names.nodename;
    host.kernel = names.release;
  }
  host.cpus = cores_by_affinity();
  host.memory = memory_of_host();
  host.hierarchy = report_name(supervisor);
  return host;
}

unsigned usable_cores(const cgroup::Hierarchies& hierarchies) {
  double cores = cores_by_affinity();
  const cgroup::Hierarchy* cpu = hierarchies.of(cgroup::Controller::cpu);
  if (cpu == nullptr) return static_cast<unsigned>(cores);
  for (std::string path = cpu->own_path; !path.empty(); path.resize(path.rfind('/'))) {
    const auto directory = cgroup::Directory::open(cpu->directory_of(path), cpu->version);
    if (directory) cores = std::min(cores, quota_of(*directory).value_or(cores));
    if (path == cpu->mount_root) break;
  }
  return static_cast<unsigned>(std::max(std::ceil(cores), 1.0));
}

unsigned usable_cores() {
  return usable_cores(cgroup::discover_hierarchies().value_or(cgroup::Hierarchies{}));
}

}  // namespace plimsoll::supervisor
