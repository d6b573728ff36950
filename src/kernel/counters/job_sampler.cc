#include "kernel/counters/job_sampler.h"

#include <algorithm>
#include <utility>

#include "kernel/counters/schedule.h"

namespace plimsoll::counters {

JobSampler::JobSampler(const cgroup::Group& group, GroupFiles files, Instant start,
                       Network& network)
    : files_(std::move(files)), start_(start), next_due_(start + kSampleGapMin) {
  const auto* v2 = group.v2();
  if (v2 == nullptr) {
    unavailable_.emplace("network", "network traffic is counted in a cgroup v2 tree only");
    return;
  }
  const auto id = id_of(*v2);
  if (!id) {
    unavailable_.emplace("network", id.error().message());
  } else if (auto counted = network.count(*id); !counted) {
    unavailable_.emplace("network", counted.error().message());
  } else {
    network_.emplace(std::move(*counted));
  }
}

void JobSampler::fill(Sample& sample, SampleState state, Instant now, WallTime wall) const {
  sample.t = now - start_;
  sample.wall = wall;
  sample.state = state;
}

const Sample& JobSampler::sample(Instant now, WallTime wall, Level level, SampleState state) {
  files_.read(level, now);
  latest_ = files_.latest(level);
  fill(latest_, state, now, wall);
  if (level == Level::full && network_) latest_.network = network_->usage();
  remember_stat(level);
  series_.add(latest_);
  next_due_ = now + sample_gap(now - start_);
  if (is_at_rest()) next_due_ = std::max(next_due_, rest_due(now));
  return latest_;
}

void JobSampler::remember_stat(Level level) {
  const auto& now = latest_.memory.current;
  if (!now || (stat_peak_ && *now <= *stat_peak_)) return;
  if (level == Level::full) {
    stat_at_peak_ = latest_.memory.stat;
  } else {
    const Bytes peak = stat_peak_.value_or(Bytes{});
    const auto grown = to_double(peak) * kStatGrowth;
    if (static_cast<double>(now->count) < grown || *now - peak < kStatGrowthMin) return;
    files_.read_stat();
    stat_at_peak_ = files_.latest(Level::full).memory.stat;
  }
  stat_peak_ = now;
}

JobUsage JobSampler::finish(Instant now, WallTime wall) {
  files_.read_last(now);
  JobUsage usage;
  usage.totals = files_.latest(Level::full);
  fill(usage.totals, SampleState::running, now, wall);
  if (network_) usage.totals.network = network_->usage();
  network_.reset();
  latest_ = usage.totals;
  remember_stat(Level::full);
  series_.add(latest_);
  usage.stat_at_peak = stat_at_peak_;
  usage.samples = series_.points();
  // Of a group that is gone only what its processes had is known.
  const auto& shmem = latest_.memory.stat.shmem;
  if (!files_.gone() && shmem && *shmem >= kLeftMin) usage.left = *shmem;
  usage.unavailable = std::move(unavailable_);
  files_.note(usage.unavailable);
  return usage;
}

}  // namespace plimsoll::counters
