#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"
#include "estimator/nextflow_trace.h"

namespace plimsoll::bench {

// A rule that says what to reserve for a task, and learns from each that has ended.
class Rule {
 public:
  virtual ~Rule() = default;
  [[nodiscard]] virtual Bytes first(const Task& task) const = 0;
  // After an attempt that reserved `failed`; more than that.
  [[nodiscard]] virtual Bytes after(const Task& task, Bytes failed) const = 0;
  virtual void learn(const Task& task) = 0;
};

// What a rule has cost.
struct Cost {
  std::size_t tasks = 0;
  std::size_t failures = 0;  // attempts whose reservation was too small
  double waste = 0;          // GB*h reserved and not used, and all that failed attempts reserved
  Cost& operator+=(const Cost& other);
};

// The tasks one after the other; each is learned from when it has ended. By process.
[[nodiscard]] std::map<std::string, Cost> replay(const std::vector<Task>& tasks, Rule& rule);

// By the name that the table shows, in its order: ours first, then what it is compared with.
struct NamedRule {
  std::string_view name;
  std::unique_ptr<Rule> rule;
};
[[nodiscard]] std::vector<NamedRule> all_rules();

}  // namespace plimsoll::bench
