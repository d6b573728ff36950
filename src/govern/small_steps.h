#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/loop/loop.h"
#include "base/unique_fd.h"
#include "base/units.h"
#include "govern/exec.h"
#include "policy/estimator/estimate.h"

namespace plimsoll::govern {

// A step that runs without a group of its own: to move a process costs milliseconds on some
// kernels, more than the whole life of most.
struct SmallStep {
  JobId id{};
  Exec exec;
  UniqueFd pidfd;
  Instant since{};
};

// What past attempts must have shown of a step that is let go without a group.
inline constexpr std::uint32_t kSmallKnownMin = 4;  // attempts of its class
inline constexpr Bytes kSmallPeak{std::uint64_t{32} << 20};
inline constexpr Duration kSmallRun = std::chrono::milliseconds(250);
[[nodiscard]] bool is_small(const policy::Estimate& estimate);

class SmallStepsObserver {
 public:
  SmallStepsObserver() = default;
  SmallStepsObserver(const SmallStepsObserver&) = delete;
  SmallStepsObserver& operator=(const SmallStepsObserver&) = delete;
  virtual ~SmallStepsObserver() = default;
  virtual void on_small_ended(const SmallStep& step) = 0;
  // It stays, or has grown: it needs a group after all.
  virtual void on_grown(SmallStep step) = 0;
};

// Keeps an eye on small steps.
class SmallSteps {
 public:
  // `loop` and `observer` must outlive this.
  SmallSteps(loop::Loop& loop, SmallStepsObserver& observer);

  // Further ones are as others.
  static constexpr std::size_t kMost = 256;
  [[nodiscard]] bool has_room() const { return steps_.size() < kMost; }
  void add(SmallStep step);
  // It is none any more; nothing if it was none.
  std::optional<SmallStep> take(JobId step);
  [[nodiscard]] std::size_t size() const { return steps_.size(); }

  // All are looked at so often; one that lives for kStays, or has kGrown, is small no more.
  static constexpr Duration kLook = std::chrono::milliseconds(50);
  static constexpr Duration kStays = std::chrono::milliseconds(500);
  static constexpr Bytes kGrown{std::uint64_t{64} << 20};

 private:
  void look();

  SmallStepsObserver& observer_;
  std::vector<SmallStep> steps_;
  loop::Timer timer_;
};

}  // namespace plimsoll::govern
