#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "policy/governor/governor_config.h"
#include "supervisor/supervisor.h"

// How a pool may use the machine, as the user says it, and what comes of it on this one.
namespace plimsoll::supervisor {

struct Percent {
  double value = 0;
};
// Bytes, or a share of what the pool can have at most.
using MemoryAmount = std::variant<Bytes, Percent>;

// A file system, by a path in it, and what of it is to stay free.
struct DiskOption {
  std::string path;
  MemoryAmount floor;
};

struct PoolOptions {
  std::optional<MemoryAmount> line{};
  std::optional<MemoryAmount> reserve{};
  std::optional<double> cores{};
  std::optional<std::uint64_t> jobs_max{};
  std::optional<unsigned> weight{};        // cgroup::RunWeight::run
  std::map<std::string, unsigned> caps{};  // GovernorConfig::caps
  std::vector<DiskOption> disks{};         // named_floors(), disk_floors()
  bool no_evict = false;
  bool no_pause = false;
  // What errors call these: where the user has said them.
  std::string line_name = "--line", reserve_name = "--reserve", disks_name = "--disk";
};

// "CLASS=N": at most N jobs of a class at once.
Result<std::pair<std::string, unsigned>> parse_cap(std::string_view text);

// "8G", or "80%".
Result<MemoryAmount> parse_memory_amount(std::string_view text);

// So many jobs run at once, frozen ones included, where nothing else says otherwise: a bound for
// what a group costs us (some 25 descriptors), not a guess at what the machine can bear.
inline constexpr unsigned kJobsMaxDefault = 1000;

// The memory that a pool can have at most on this machine.
[[nodiscard]] Bytes capacity_of(const Supervisor& supervisor);

// A line as the user named it. An error says what makes no sense about it here.
Result<Bytes> line_of(const MemoryAmount& amount, const Supervisor& supervisor);

// The configuration on this machine. An error names the option whose value makes no sense here.
Result<policy::GovernorConfig> pool_governor(const PoolOptions& options,
                                             const Supervisor& supervisor);

}  // namespace plimsoll::supervisor
