#pragma once

#include <atomic>
#include <cstdint>

#include "base/units.h"

namespace plimsoll::output {

// How much one attempt has written to its pipes. What went to files of the job's own passes
// Plimsoll by and is not in it.
struct Received {
  Bytes out, err;
  bool operator==(const Received&) const = default;
};

// The same while it grows: written by the collector's thread, read by any.
struct Traffic {
  std::atomic<std::uint64_t> out{0}, err{0};
  std::atomic<bool> complete{false};  // both pipes have ended; set after the last count

  [[nodiscard]] Received so_far() const {
    return {.out = {out.load(std::memory_order_relaxed)},
            .err = {err.load(std::memory_order_relaxed)}};
  }
};

}  // namespace plimsoll::output
