#include "supervisor/run/pool_options.h"

#include <algorithm>

#include "base/quantity.h"
#include "base/text.h"
#include "kernel/cgroup/freeze.h"
#include "supervisor/capacity.h"
#include "supervisor/host.h"

namespace plimsoll::supervisor {
namespace {

constexpr Bytes kLineMin{16 << 20};  // less holds no job at all

Bytes amount_of(const MemoryAmount& amount, Bytes whole) {
  if (const Bytes* bytes = std::get_if<Bytes>(&amount)) return *bytes;
  const double share = std::get<Percent>(amount).value / 100;
  return {static_cast<std::uint64_t>(to_double(whole) * share)};
}

}  // namespace

Bytes capacity_of(const Supervisor& supervisor) {
  const Bytes total = describe_host(supervisor).memory;
  const cgroup::Directory* memory = supervisor.pool().of(cgroup::Controller::memory);
  if (memory != nullptr) return memory_capacity(*memory, total);
  // In process mode the jobs are in Plimsoll's own group, whose limit holds all the same.
  const cgroup::Hierarchy* hierarchy = supervisor.hierarchies().of(cgroup::Controller::memory);
  if (hierarchy == nullptr) return total;
  const auto own =
      cgroup::Directory::open(hierarchy->directory_of(hierarchy->own_path), hierarchy->version);
  return own ? memory_capacity(*own, total) : total;
}

Result<std::pair<std::string, unsigned>> parse_cap(std::string_view text) {
  constexpr std::uint64_t kCapMax = 1'000'000;
  // The name of a class may hold a "=" itself.
  const std::size_t equals = text.rfind('=');
  if (equals != std::string_view::npos && equals > 0) {
    const auto most = to_u64(text.substr(equals + 1));
    if (most && *most >= 1 && *most <= kCapMax) {
      return std::pair(std::string(text.substr(0, equals)), static_cast<unsigned>(*most));
    }
  }
  return fail("found \"" + std::string(text) + "\", expected CLASS=N with N from 1 to " +
              std::to_string(kCapMax));
}

Result<MemoryAmount> parse_memory_amount(std::string_view text) {
  if (!text.ends_with('%')) {
    auto bytes = parse_bytes(text);
    if (!bytes) return pass(std::move(bytes));
    return MemoryAmount(*bytes);
  }
  const auto percent = to_double(text.substr(0, text.size() - 1));
  if (!percent || *percent <= 0 || *percent > 100) {
    return fail("found \"" + std::string(text) +
                "\", expected a size such as 8G, or a share of the memory such as 80%");
  }
  return MemoryAmount(Percent{*percent});
}

Result<Bytes> line_of(const MemoryAmount& amount, const Supervisor& supervisor) {
  const Bytes capacity = capacity_of(supervisor);
  const Bytes line = amount_of(amount, capacity);
  if (line < kLineMin) {
    return fail("a line of " + format_bytes(line) + " is too small for any job; up to " +
                format_bytes(capacity) + " is available here");
  }
  if (line > capacity) {
    return fail("a line of " + format_bytes(line) + " is more than the " + format_bytes(capacity) +
                " that is available here");
  }
  return line;
}

Result<policy::GovernorConfig> pool_governor(const PoolOptions& options,
                                             const Supervisor& supervisor) {
  const Bytes capacity = capacity_of(supervisor);
  policy::GovernorConfig config;
  config.reserve =
      options.reserve ? amount_of(*options.reserve, capacity) : default_reserve(capacity);
  auto line = line_of(options.line.value_or(capacity - config.reserve), supervisor);
  if (!line) return pass(std::move(line), options.line ? options.line_name : options.reserve_name);
  config.line = *line;
  config.cores = options.cores.value_or(usable_cores(supervisor.hierarchies()));
  config.jobs_max = static_cast<unsigned>(options.jobs_max.value_or(kJobsMaxDefault));
  if (const auto descriptors = descriptor_limit()) {
    config.jobs_max = std::min(config.jobs_max, jobs_by_descriptors(*descriptors));
  }
  config.caps = options.caps;
  config.may_evict = !options.no_evict;
  const bool is_process_mode = supervisor.why_process_mode().has_value();
  const bool can_pause = is_process_mode || cgroup::freezer_of(supervisor.pool()) != nullptr;
  config.may_pause = !options.no_pause && can_pause;
  // Only a group's memory can be pushed out on demand.
  config.has_swap = has_swap() && !is_process_mode;
  return config;
}

}  // namespace plimsoll::supervisor
