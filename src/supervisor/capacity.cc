#include "supervisor/capacity.h"

#include <sys/resource.h>
#include <sys/sysinfo.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <string>

#include "base/text.h"
#include "kernel/counters/parse_memory.h"

namespace plimsoll::supervisor {
namespace {

using namespace plimsoll::literals;

// Deeper trees of groups are not walked.
constexpr int kDepthMax = 64;

}  // namespace

std::optional<Bytes> memory_limit(const cgroup::Directory& memory) {
  const bool is_v2 = memory.version() == cgroup::Version::v2;
  const auto text = memory.read(is_v2 ? "memory.max" : "memory.limit_in_bytes");
  if (!text) return std::nullopt;
  const auto count = to_u64(trim(*text));
  if (!count || Bytes{*count} >= counters::kV1LimitMax) return std::nullopt;
  return Bytes{*count};
}

Bytes memory_capacity(const cgroup::Directory& memory, Bytes total) {
  Bytes least = total;
  auto group = memory.look_at_parent();
  for (int depth = 0; group && depth < kDepthMax && group->has_file("cgroup.procs"); ++depth) {
    least = std::min(least, memory_limit(*group).value_or(least));
    group = group->look_at_parent();
  }
  return least;
}

bool has_swap() {
  struct sysinfo info{};
  return ::sysinfo(&info) == 0 && info.totalswap > 0;
}

std::optional<std::uint64_t> descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) {
    return std::nullopt;
  }
  return limit.rlim_cur;
}

unsigned jobs_by_descriptors(std::uint64_t descriptors) {
  if (descriptors < kDescriptorsOfOurs + kDescriptorsPerJob) return 1;
  const std::uint64_t jobs = (descriptors - kDescriptorsOfOurs) / kDescriptorsPerJob;
  return static_cast<unsigned>(std::min<std::uint64_t>(jobs, std::numeric_limits<int>::max()));
}

Result<void> check_jobs_at_once(unsigned jobs) {
  const auto limit = descriptor_limit();
  const unsigned most = limit ? jobs_by_descriptors(*limit) : jobs;
  if (jobs <= most) return {};
  return fail("jobs: found " + std::to_string(jobs) + ", expected at most " + std::to_string(most) +
              ": the limit on open files is too low for more (`ulimit -Hn`)");
}

Bytes default_reserve(Bytes capacity) {
  return std::max(Bytes{capacity.count / 20}, std::min(512_MiB, Bytes{capacity.count / 8}));
}

}  // namespace plimsoll::supervisor
