#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "policy/job/job.h"

namespace plimsoll::sim {

// What `plimsoll simulate` reads: jobs as curves of memory and CPU over time
// (docs/formats/curves.md).

// Memory is linear between two points; the cores asked for hold until the next point.
struct CurvePoint {
  double seconds = 0;  // since the start of the job, when nobody stands in its way
  float mib = 0;       // in use
  float cores = 0;
};

// A job's course if it had the machine to itself.
//
// At least two points, the first at 0 s, each later than the one before; nothing negative.
class Curve {
 public:
  // From points whose times do not fall. Times are counted from the first one's; a time that occurs
  // twice is moved kTwiceGap later; a single point is held for kSinglePointHeld. Memory that is
  // there at the first point is allocated from nothing at kFirstAllocationRate.
  explicit Curve(std::vector<CurvePoint> points);

  [[nodiscard]] const std::vector<CurvePoint>& points() const { return points_; }
  [[nodiscard]] double seconds() const { return points_.back().seconds; }
  [[nodiscard]] double cpu_seconds() const { return cpu_seconds_; }
  [[nodiscard]] double mib_seconds() const { return mib_seconds_; }  // the memory integral
  [[nodiscard]] double peak_mib() const { return peak_mib_; }

 private:
  std::vector<CurvePoint> points_;
  double cpu_seconds_ = 0;
  double mib_seconds_ = 0;
  double peak_mib_ = 0;
};

// Traces round their times: two looks at the same moment are a jump, a very steep one.
inline constexpr double kTwiceGap = 0.001;
// A task that was seen once only lived about as long as the gap between two looks of a fast
// sampler.
inline constexpr double kSinglePointHeld = 1;
// Faulting pages in, one thread, with clearing them: 2 to 4 GB/s on machines of today.
inline constexpr double kFirstAllocationRate = 2048;  // MiB/s

// A job of a simulation. `spec.id` is its place in the order of input, from 1; `spec.name` the
// trace's `id`, else its `name`; `spec.command` shows the trace's `name`.
struct SimJob {
  policy::JobSpec spec;
  Curve curve;
};

// What bounds a trace: larger by two orders than those that exist, small enough for a machine.
inline constexpr std::size_t kCurveLineBytesMax = 64 << 20;
inline constexpr std::size_t kCurveTextBytesMax = std::size_t{4} << 30;
inline constexpr std::size_t kCurveJobsMax = 1'000'000;
inline constexpr std::size_t kCurvePointsMax = 100'000'000;

// Jobs of a text of JSON lines. Errors name `file`, the line, what was found and what was expected.
[[nodiscard]] Result<std::vector<SimJob>> parse_curves(std::string_view text,
                                                       std::string_view file);

// The same of a file, unpacked if its first bytes are those of xz. Blocks until it is read.
[[nodiscard]] Result<std::vector<SimJob>> read_curves(const std::string& path);

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
