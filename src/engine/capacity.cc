#include "engine/capacity.h"

#include <sys/resource.h>
#include <sys/sysinfo.h>

#include <algorithm>
#include <limits>
#include <optional>

#include "base/text.h"
#include "measure/parse_memory.h"

namespace plimsoll::engine {
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
  if (!count || Bytes{*count} >= measure::kV1LimitMax) return std::nullopt;
  return Bytes{*count};
}

Bytes memory_capacity(const cgroup::Directory& memory, Bytes total) {
  Bytes least = total;
  auto group = memory.open_child("..");
  for (int depth = 0; group && depth < kDepthMax && group->has_file("cgroup.procs"); ++depth) {
    least = std::min(least, memory_limit(*group).value_or(least));
    group = group->open_child("..");
  }
  return least;
}

bool has_swap() {
  struct sysinfo info{};
  return ::sysinfo(&info) == 0 && info.totalswap > 0;
}

unsigned jobs_by_descriptors() {
  constexpr rlim_t kOwn = 200;  // files, sockets and pipes of our own
  // Up to 18 counters, 4 directories, 4 ends of pipes, pidfd; and as many ended ones not closed
  // yet.
  constexpr rlim_t kOfAJob = 50;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur < kOwn + kOfAJob) return 1;
  const rlim_t jobs = (limit.rlim_cur - kOwn) / kOfAJob;
  return static_cast<unsigned>(std::min<rlim_t>(jobs, std::numeric_limits<int>::max()));
}

Bytes default_reserve(Bytes capacity) {
  return std::max(Bytes{capacity.count / 20}, std::min(512_MiB, Bytes{capacity.count / 8}));
}

}  // namespace plimsoll::engine
