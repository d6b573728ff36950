#include "estimator/rules.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>

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
  return rules;
}

}  // namespace plimsoll::bench
