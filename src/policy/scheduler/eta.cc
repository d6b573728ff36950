#include "policy/scheduler/eta.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <queue>

namespace plimsoll::policy {
namespace {

// So many of the waiting jobs are laid out one by one, the same share of every kind; of the others
// only the sum counts.
constexpr double kScheduledMax = 1000;
// What was reckoned of how many run at once is believed as much as what was seen over a quarter of
// the time that one job takes: where no bound is known it is all that wait.
constexpr double kReckonedWeight = 0.25;
// How far a single attempt may mislead about the next one of the run, as a share.
constexpr double kLengthDoubt = 0.5;
// Jobs of a kind differ: one after the other they are taken to be at these places of a normal
// distribution (the middles of its eighths), near ones first.
constexpr auto kPlaces =
    std::to_array<double>({0.157, -0.157, 0.887, -0.887, -0.489, 0.489, 1.534, -1.534});

// Of a logarithmic normal distribution with this mean and spread: no length is below nothing.
double length_at(const Belief& seconds, double place) {
  if (seconds.mean <= 0) return 0;
  const double share = seconds.spread / seconds.mean;
  const double variance = std::log1p(share * share);
  return seconds.mean * std::exp(std::sqrt(variance) * place - variance / 2);
}

// What runs, and what waits, with a length for each.
struct Lengths {
  std::vector<double> running;
  std::vector<std::pair<Belief, double>> waiting;  // of so many jobs, longest first
  double jobs = 0, seconds = 0;                    // of those that wait, together
};

std::optional<Lengths> lengths_of(const WorkLeft& work, const RunProgress& progress) {
  const auto of_run = progress.length();
  Lengths lengths;
  for (const WorkLeft::Running& one : work.running) {
    if (!one.left && !of_run) return std::nullopt;
    // Of jobs nobody knows, half of those that ran for some time run for as long again.
    lengths.running.push_back(one.left ? one.left->mean
                                       : std::max(one.ran, of_run->mean - one.ran));
  }
  for (const WorkLeft::Waiting& some : work.waiting) {
    if (!some.seconds && !of_run) return std::nullopt;
    const Belief seconds = some.seconds ? *some.seconds : *of_run;
    lengths.waiting.emplace_back(seconds, some.jobs);
    lengths.jobs += some.jobs;
    lengths.seconds += some.jobs * seconds.mean;
  }
  std::sort(lengths.waiting.begin(), lengths.waiting.end(),
            [](const auto& a, const auto& b) { return a.first.mean > b.first.mean; });
  return lengths;
}

// How many jobs the bounds let run at once.
double reckoned_at_once(const WorkLeft& work) {
  double jobs = static_cast<double>(work.running.size());
  double cores = 0;
  double bytes = 0;
  for (const WorkLeft::Running& one : work.running) {
    cores += one.cores;
    bytes += one.bytes;
  }
  for (const WorkLeft::Waiting& some : work.waiting) {
    jobs += some.jobs;
    cores += some.jobs * some.cores;
    bytes += some.jobs * some.bytes;
  }
  double most = std::min(work.jobs_max, jobs);
  if (cores > 0) most = std::min(most, work.cores / (cores / jobs));
  if (bytes > 0) most = std::min(most, work.line / (bytes / jobs));
  return std::max(1.0, most);
}

double at_once(const WorkLeft& work, const RunProgress& progress, const Lengths& lengths) {
  const double reckoned = reckoned_at_once(work);
  const double length = lengths.jobs > 0 ? lengths.seconds / lengths.jobs : 0;
  if (length <= 0 || progress.seen_seconds() <= 0) return reckoned;
  const double weight = progress.seen_seconds() / length;
  // Of the time that a job takes, not of the number, which has no end where no bound is known.
  const double share = (kReckonedWeight / reckoned + weight / std::max(1.0, progress.at_once())) /
                       (kReckonedWeight + weight);
  return std::clamp(1 / share, 1.0, std::max(1.0, work.jobs_max));
}

}  // namespace

void RunProgress::note(Instant now, std::size_t running, std::size_t waiting) {
  const double passed = last_ ? to_seconds(now - *last_) : 0;
  if (passed > 0 && waiting_ > 0) {
    // Each moment counts by how late in the run it was.
    const double before = seen_;
    seen_ += passed;
    const double fresh = 1 - (before / seen_) * (before / seen_);
    at_once_ += fresh * (static_cast<double>(running_) - at_once_);
  }
  last_ = now;
  running_ = running;
  waiting_ = waiting;
}

void RunProgress::ended(double seconds) {
  ended_ += 1;
  seconds_ += seconds;
  squares_ += seconds * seconds;
}

std::optional<Belief> RunProgress::length() const {
  if (ended_ <= 0) return std::nullopt;
  const double mean = seconds_ / ended_;
  const double variance = std::max(0.0, squares_ / ended_ - mean * mean);
  const double doubt = kLengthDoubt * mean;
  return Belief{mean, std::sqrt(variance + doubt * doubt / ended_)};
}

std::optional<double> seconds_left(const WorkLeft& work, const RunProgress& progress) {
  const auto lengths = lengths_of(work, progress);
  if (!lengths) return std::nullopt;
  const double places = at_once(work, progress, *lengths);
  const auto slots = static_cast<std::size_t>(std::ceil(places));
  // Where not all of the slots are taken all the time, what waits takes so much longer.
  const double stretch = static_cast<double>(slots) / places;
  const double share = std::min(1.0, kScheduledMax / std::max(1.0, lengths->jobs));

  std::priority_queue<double, std::vector<double>, std::greater<>> ends;
  double last = 0;
  const auto begin = [&](double at, double seconds) {
    ends.push(at + seconds);
    last = std::max(last, at + seconds);
  };
  // What is not laid out is done first, by all slots together.
  const double bulk = (1 - share) * lengths->seconds / places;
  for (const double left : lengths->running) begin(0, left + bulk);
  double now = bulk;
  double due = 0;  // jobs of which the share has come
  for (const auto& [seconds, jobs] : lengths->waiting) {
    due += jobs * share;
    for (std::size_t place = 0; due >= 0.5; ++place) {
      due -= 1;
      for (; ends.size() >= slots; ends.pop()) now = std::max(now, ends.top());
      begin(now, stretch * length_at(seconds, kPlaces[place % kPlaces.size()]));
    }
  }
  return last;
}

}  // namespace plimsoll::policy
