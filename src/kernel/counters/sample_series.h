#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/units.h"
#include "kernel/counters/machine_span.h"
#include "kernel/counters/usage.h"

namespace plimsoll::counters {

// What a Series must know of its points:
//
//   struct Traits {
//     static Duration time_of(const Point&);    // never falls from one point added to the next
//     static constexpr std::size_t kGauges, kCounters;
//     // Gauges whose highest point must be kept; of the points of one stretch of time the one
//     // with the highest first gauge stands for all.
//     static std::array<std::optional<double>, kGauges> gauges(const Point&);
//     // Rising totals, in seconds of a second or any other unit, whose steepest step is kept.
//     static std::array<std::optional<double>, kCounters> counters(const Point&);
//   };
//
// A bounded record of any number of points: never more than kPointsMax, in order, evenly covering
// the whole time, with the first, the last, the highest of each gauge and both ends of the
// steepest step of each counter.
//
// Time is cut into equal stretches with one point each. When they run out, neighbours are joined
// and stretches become twice as long, so adding costs O(1) amortised and from half to all of the
// stretches are in use.
template <class Point, class Traits>
class Series {
 public:
  static constexpr std::size_t kPointsMax = 200;

  void add(Point point) {
    const Duration t = Traits::time_of(point);
    PLIMSOLL_CHECK(!last_ || t >= Traits::time_of(last_->point));
    Kept added{count_++, std::move(point)};
    if (!first_) first_ = added;
    keep_for_its_time(added, t);
    keep_extremes(added, t);
    last_ = std::move(added);
  }

  [[nodiscard]] std::uint64_t added() const { return count_; }

  [[nodiscard]] const Point* last() const { return last_ ? &last_->point : nullptr; }

  // The points kept, in the order in which they were added. A copy; the series goes on.
  [[nodiscard]] std::vector<Point> points() const {
    std::vector<const Kept*> kept;
    const auto take = [&kept](const std::optional<Kept>& one) {
      if (one) kept.push_back(&*one);
    };
    take(first_);
    take(last_);
    for (const Highest& one : highest_) take(one.kept);
    for (const Steepest& one : steepest_) {
      take(one.from);
      take(one.to);
    }
    for (const Stretch& stretch : stretches_) kept.push_back(&stretch.kept);
    std::ranges::sort(kept, {}, [](const Kept* one) { return one->index; });
    const auto repeated = std::ranges::unique(kept, {}, [](const Kept* one) { return one->index; });
    kept.erase(repeated.begin(), repeated.end());
    std::vector<Point> points;
    points.reserve(kept.size());
    for (const Kept* one : kept) points.push_back(one->point);
    return points;
  }

 private:
  static constexpr std::size_t kStretchesMax =
      kPointsMax - 2 - Traits::kGauges - 2 * Traits::kCounters;

  struct Kept {
    std::uint64_t index = 0;  // how many were added before
    Point point;
  };
  struct Stretch {
    std::uint64_t number = 0;  // of its length, since the first point
    Kept kept;
  };
  struct Highest {
    double value = 0;
    std::optional<Kept> kept;
  };
  struct Steepest {
    double rate = 0;
    std::optional<Kept> from, to;
  };

  static std::optional<double> rank(const Point& point) { return Traits::gauges(point).front(); }

  void keep_for_its_time(const Kept& added, Duration t) {
    const Duration since = t - Traits::time_of(first_->point);
    if (since / length_ >= static_cast<Duration::rep>(kStretchesMax)) lengthen(since);
    const auto number = static_cast<std::uint64_t>(since / length_);
    if (stretches_.empty() || stretches_.back().number != number) {
      stretches_.push_back({number, added});
    } else if (rank(added.point) > rank(stretches_.back().kept.point)) {
      stretches_.back().kept = added;
    }
  }

  // Makes stretches so long that `since` lies in one, and joins those that have become one.
  void lengthen(Duration since) {
    std::uint64_t factor = 1;
    while (since / length_ >= static_cast<Duration::rep>(kStretchesMax)) {
      length_ *= 2;
      factor *= 2;
    }
    std::size_t joined = 0;
    for (std::size_t i = 0; i < stretches_.size(); ++i) {
      stretches_[i].number /= factor;
      if (i == 0) continue;
      if (stretches_[i].number != stretches_[joined].number) {
        if (++joined != i) stretches_[joined] = std::move(stretches_[i]);
      } else if (rank(stretches_[i].kept.point) > rank(stretches_[joined].kept.point)) {
        stretches_[joined].kept = std::move(stretches_[i].kept);
      }
    }
    stretches_.resize(stretches_.empty() ? 0 : joined + 1);
  }

  void keep_extremes(const Kept& added, Duration t) {
    const auto gauges = Traits::gauges(added.point);
    for (std::size_t i = 0; i < Traits::kGauges; ++i) {
      Highest& highest = highest_[i];
      if (!gauges[i] || (highest.kept && *gauges[i] <= highest.value)) continue;
      highest = {*gauges[i], added};
    }
    if (!last_ || t == Traits::time_of(last_->point)) return;
    const auto before = Traits::counters(last_->point);
    const auto after = Traits::counters(added.point);
    const double seconds = to_seconds(t - Traits::time_of(last_->point));
    for (std::size_t i = 0; i < Traits::kCounters; ++i) {
      if (!before[i] || !after[i]) continue;
      const double rate = (*after[i] - *before[i]) / seconds;
      if (rate > steepest_[i].rate) steepest_[i] = {rate, last_, added};
    }
  }

  std::uint64_t count_ = 0;
  std::optional<Kept> first_;
  std::optional<Kept> last_;
  Duration length_ = std::chrono::milliseconds(1);
  std::vector<Stretch> stretches_;
  std::array<Highest, Traits::kGauges> highest_;
  std::array<Steepest, Traits::kCounters> steepest_;
};

// The bounded series of the two kinds of samples.

// Stall time of at least one task as seconds; absent without pressure.
inline std::optional<double> stalled_seconds(const std::optional<Pressure>& pressure) {
  if (!pressure || !pressure->some) return std::nullopt;
  return to_seconds(pressure->some->total);
}

// Of a job: the highest memory, used and processes; the steepest CPU time and stalls.
struct JobTraits {
  static Duration time_of(const Sample& sample) { return sample.t; }

  static constexpr std::size_t kGauges = 3;
  static std::array<std::optional<double>, kGauges> gauges(const Sample& sample) {
    const auto size = [](std::optional<Bytes> bytes) {
      return bytes ? std::optional(static_cast<double>(bytes->count)) : std::nullopt;
    };
    const auto pids = sample.pids.current;
    return {size(sample.memory.current), size(sample.memory.used),
            pids ? std::optional(static_cast<double>(*pids)) : std::nullopt};
  }

  static constexpr std::size_t kCounters = 4;
  static std::array<std::optional<double>, kCounters> counters(const Sample& sample) {
    const auto usage = sample.cpu.usage;
    return {usage ? std::optional(to_seconds(*usage)) : std::nullopt,
            stalled_seconds(sample.cpu.pressure), stalled_seconds(sample.memory.pressure),
            stalled_seconds(sample.io.pressure)};
  }
};
using JobSeries = Series<Sample, JobTraits>;

// Of the machine: the lowest available memory, the most processes that run; the steepest busy time
// and stalls.
struct SystemTraits {
  static Duration time_of(const SystemSample& sample) { return sample.at.time_since_epoch(); }

  static constexpr std::size_t kGauges = 2;
  static std::array<std::optional<double>, kGauges> gauges(const SystemSample& sample) {
    const auto available = sample.meminfo.find("MemAvailable");
    const auto running = sample.processes_running;
    return {available != sample.meminfo.end() ? std::optional(-to_double(available->second))
                                              : std::nullopt,
            running ? std::optional(static_cast<double>(*running)) : std::nullopt};
  }

  static constexpr std::size_t kCounters = 4;
  static std::array<std::optional<double>, kCounters> counters(const SystemSample& sample) {
    return {busy_seconds(sample), stalled_seconds(sample.cpu_pressure),
            stalled_seconds(sample.memory_pressure), stalled_seconds(sample.io_pressure)};
  }

 private:
  static std::optional<double> busy_seconds(const SystemSample& sample) {
    if (!sample.cpu) return std::nullopt;
    return to_seconds(busy_time(*sample.cpu));
  }
};
using SystemSeries = Series<SystemSample, SystemTraits>;

}  // namespace plimsoll::counters
