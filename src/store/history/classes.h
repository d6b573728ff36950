#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "store/history/store.h"

// What `plimsoll history` tells of each class.
namespace plimsoll::history {

// By the nearest-rank rule: each is a value that occurred.
template <class T>
struct Quantiles {
  T p50{}, p90{}, max{};
};

struct ClassSummary {
  policy::Key key;
  std::size_t count = 0;     // attempts
  std::size_t at_least = 0;  // of them those whose peak was cut short
  Quantiles<Bytes> peak;     // as far as was seen, cut short or not
  Quantiles<Duration> ran;   // running time
  // Nothing: of no attempt known.
  std::optional<Quantiles<double>> cores{};   // mean use
  std::optional<Quantiles<Bytes>> written{};  // to file systems
  std::optional<Quantiles<Bytes>> io{};       // read from devices and written to them
  WallTime last{};                            // when the newest was recorded
};

// A row for each class of each owner whose name matches a pattern of glob(7), largest p90 of the
// peak first, of equals by name.
[[nodiscard]] std::vector<ClassSummary> summarise(const std::vector<Entry>& entries,
                                                  const std::string& pattern);

}  // namespace plimsoll::history
