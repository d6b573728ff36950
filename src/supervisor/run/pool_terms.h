#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "supervisor/run/pool_options.h"
#include "supervisor/supervisor.h"

namespace plimsoll::supervisor {

// One of the bounds that a pool works within, and where it comes from.
struct PoolTerm {
  std::string name;    // "line"
  std::string value;   // "22.4 GiB"
  std::string origin;  // "all memory of the machine, 23.6 GiB, less the reserve"
};

// What the terms rest on, of a machine.
struct PoolFacts {
  Bytes total{};     // of the machine
  Bytes capacity{};  // that a pool can have there at most
  unsigned cpus = 1;
  std::optional<std::uint64_t> descriptors;  // that Plimsoll may have open; absent: any number
};
[[nodiscard]] PoolFacts pool_facts(const Supervisor& supervisor);

// Line, reserve, cores and most jobs at once, as pool_governor() has them from these options.
[[nodiscard]] std::vector<PoolTerm> pool_terms(const PoolOptions& options,
                                               const policy::GovernorConfig& governor,
                                               const PoolFacts& facts);

// As lines for people.
[[nodiscard]] std::string terms_text(const std::vector<PoolTerm>& terms);

}  // namespace plimsoll::supervisor
