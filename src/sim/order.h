#pragma once

#include <cstdint>
#include <vector>

#include "sim/curves.h"

namespace plimsoll::sim {

enum class Order : std::uint8_t {
  file,
  shuffle,  // by a seed
  longest,  // longest curve first
};

// The jobs in another order of input: `spec.id` and `needs` follow. The same seed gives the same
// order everywhere.
[[nodiscard]] std::vector<SimJob> in_order(std::vector<SimJob> jobs, Order order,
                                           std::uint64_t seed);

}  // namespace plimsoll::sim
