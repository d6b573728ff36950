#include "estimator/rules.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <random>

#include "estimator/exhaustive_buckets.h"
#include "estimator/sizing.h"
#include "policy/estimator/estimator.h"
#include "policy/estimator/line_fit.h"

namespace plimsoll::bench {
namespace {

// Of a task for which its user asked for nothing, while nothing else is known.
constexpr Bytes kNothingAsked{4ULL << 30};

Bytes bytes(double number) { return {static_cast<std::uint64_t>(std::ceil(number))}; }

Bytes request(const Task& task) { return task.requested.value_or(kNothingAsked); }

// 1.05 times the largest seen if that is more, else double.
class LargestSeen : public Rule {
 public:
  Bytes first(const Task& task) const override {
    const auto found = largest_.find(task.process);
    return found == largest_.end() ? request(task) : found->second;
  }
  Bytes after(const Task& task, Bytes failed) const override {
    constexpr double kMore = 1.05;
    const auto found = largest_.find(task.process);
    const Bytes again = found == largest_.end() ? Bytes{} : bytes(kMore * to_double(found->second));
    return again > failed ? again : failed + failed;
  }
  void learn(const Task& task) override {
    Bytes& largest = largest_[task.process];
    largest = std::max(largest, task.peak);
  }

 private:
  std::map<std::string, Bytes> largest_;
};

class Requested final : public LargestSeen {
 public:
  Bytes first(const Task& task) const override { return request(task); }
};

// A straight line over the size of the input, and the standard deviation of its errors.
class Regression final : public LargestSeen {
 public:
  Bytes first(const Task& task) const override {
    constexpr std::size_t kResultsMin = 2;  // so from the third task on
    const auto found = points_.find(task.process);
    if (found == points_.end() || found->second.size() < kResultsMin || !task.input) {
      return LargestSeen::first(task);
    }
    const auto fit = policy::fit_line(found->second);
    if (!fit) return LargestSeen::first(task);
    return bytes(std::max(1.0, fit->at(to_double(*task.input)) + fit->residual));
  }
  void learn(const Task& task) override {
    LargestSeen::learn(task);
    if (!task.input) return;
    points_[task.process].push_back({to_double(*task.input), to_double(task.peak), 1});
  }

 private:
  std::map<std::string, std::vector<policy::FitPoint>> points_;
};

// Tovar et al., "A Job Sizing Strategy for High-Throughput Scientific Workflows", 2018: of all
// peaks seen, reserve the one that would have cost least if whoever needs more is run again with
// the most that was seen.
class FirstAllocation final : public LargestSeen {
 public:
  Bytes first(const Task& task) const override {
    const auto found = past_.find(task.process);
    if (found == past_.end()) return request(task);
    const auto& past = found->second;
    const double most = past.rbegin()->first;
    double seconds_above = 0;
    for (const auto& [peak, seconds] : past) seconds_above += seconds;
    double seconds_below = 0;
    double best = most, least = std::numeric_limits<double>::infinity();
    for (const auto& [peak, seconds] : past) {
      seconds_below += seconds;
      seconds_above -= seconds;
      // What is used is used in any case, so it makes no difference.
      const double cost = peak * seconds_below + (peak + most) * seconds_above;
      if (cost < least) {
        least = cost;
        best = peak;
      }
    }
    return bytes(best);
  }
  void learn(const Task& task) override {
    LargestSeen::learn(task);
    const double seconds = std::chrono::duration<double>(task.ran).count();
    past_[task.process].emplace(to_double(task.peak), seconds);
  }

 private:
  std::map<std::string, std::multimap<double, double>> past_;  // by peak, the seconds
};

// The buckets of exhaustive_buckets.h; drawn by the same numbers each time.
class Bucketing final : public LargestSeen {
 public:
  Bytes first(const Task& task) const override {
    const auto found = classes_.find(task.process);
    if (found == classes_.end()) return request(task);
    return bytes(found->second.choose(chance_));
  }
  Bytes after(const Task& task, Bytes failed) const override {
    const auto found = classes_.find(task.process);
    if (found == classes_.end()) return failed + failed;
    const auto above = found->second.choose_above(to_double(failed), chance_);
    return above ? bytes(*above) : failed + failed;
  }
  void learn(const Task& task) override {
    LargestSeen::learn(task);
    classes_[task.process].learn(to_double(task.peak));
  }

 private:
  std::map<std::string, ExhaustiveBuckets> classes_;
  mutable std::mt19937_64 chance_{1};
};

class Ours final : public Rule {
 public:
  Bytes first(const Task& task) const override {
    const auto found = classes_.find(task.process);
    return found == classes_.end() ? request(task) : found->second.first(task.input);
  }
  Bytes after(const Task& task, Bytes failed) const override {
    const auto found = classes_.find(task.process);
    return found == classes_.end() ? policy::Sizing().after(failed) : found->second.after(failed);
  }
  void learn(const Task& task) override {
    classes_[task.process].learn({.peak = task.peak, .ran = task.ran, .input = task.input});
  }

 private:
  std::map<std::string, policy::Sizing> classes_;
};

}  // namespace

Cost& Cost::operator+=(const Cost& other) {
  tasks += other.tasks;
  failures += other.failures;
  waste += other.waste;
  return *this;
}

std::map<std::string, Cost> replay(const std::vector<Task>& tasks, Rule& rule) {
  constexpr double kGigabyte = 1e9;
  std::map<std::string, Cost> costs;
  for (const Task& task : tasks) {
    Cost& cost = costs[task.process];
    const double hours = std::chrono::duration<double, std::ratio<3600>>(task.ran).count();
    Bytes reserved = rule.first(task);
    while (reserved < task.peak) {
      cost.waste += to_double(reserved) / kGigabyte * hours;
      ++cost.failures;
      reserved = rule.after(task, reserved);
    }
    cost.waste += to_double(reserved - task.peak) / kGigabyte * hours;
    ++cost.tasks;
    rule.learn(task);
  }
  return costs;
}

std::vector<NamedRule> all_rules() {
  std::vector<NamedRule> rules;
  rules.push_back({"ours", std::make_unique<Ours>()});
  rules.push_back({"request", std::make_unique<Requested>()});
  rules.push_back({"largest", std::make_unique<LargestSeen>()});
  rules.push_back({"regression", std::make_unique<Regression>()});
  rules.push_back({"first", std::make_unique<FirstAllocation>()});
  rules.push_back({"buckets", std::make_unique<Bucketing>()});
  return rules;
}

}  // namespace plimsoll::bench
