#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/units.h"

namespace plimsoll {

// How fast one block device may be used.
struct DeviceRate {
  std::string device;  // "MAJ:MIN", or the path of a block device or of a file on one
  std::optional<Bytes> read_per_second{}, write_per_second{};
  std::optional<std::uint64_t> read_ops_per_second{}, write_ops_per_second{};
  bool operator==(const DeviceRate&) const = default;
};

// The smallest quota of CPU time, in cores, that the kernel keeps: 1 ms each second.
inline constexpr double kCpusMin = 0.001;

// The own limits of one job, set on its group. Absent means none.
struct Limits {
  std::optional<Bytes> memory_max;
  std::optional<Bytes> memory_high;
  std::optional<Bytes> swap_max;
  std::optional<double> cpus;          // quota, in cores; from kCpusMin
  std::optional<std::string> cpuset;   // a list such as "0-3,7"
  std::optional<unsigned> cpu_weight;  // 1..10000; the kernel's default is 100
  std::optional<unsigned> io_weight;   // 1..10000; the kernel's default is 100
  // Of CPU and I/O, where the kernel offers it for the group; the two above go before it.
  std::optional<unsigned> weight;
  std::vector<DeviceRate> io_max;
  std::optional<std::uint64_t> pids_max;
  bool operator==(const Limits&) const = default;
};

}  // namespace plimsoll
