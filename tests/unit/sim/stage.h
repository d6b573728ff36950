#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "policy/scheduler/executor.h"
#include "sim/curves.h"
#include "sim/simulated_executor.h"

// What stories on the simulated machine are told with.
namespace plimsoll::sim {

inline SimJob job(std::size_t number, std::vector<CurvePoint> points) {
  SimJob made{.spec = {}, .curve = Curve(std::move(points))};
  made.spec.id = JobId{number};
  made.spec.name = std::to_string(number);
  return made;
}

// Carries out a script, and writes down what it is told.
class Script final : public policy::ExecutorObserver {
 public:
  explicit Script(SimulatedExecutor& executor) : executor_(executor) {}

  // `step` is done at this time of the simulation; steps of the same time in the order of calls.
  Script& at(Duration time, std::function<void()> step) {
    steps_.emplace(time, std::move(step));
    wake();
    return *this;
  }
  Script& start(Duration time, std::size_t number) {
    return at(time, [this, number] { executor_.start({.job = JobId{number}}); });
  }

  struct End {
    Duration time{};
    policy::AttemptEnd end;
  };
  std::multimap<std::size_t, End> ends;
  std::vector<std::pair<Duration, policy::JobSample>> samples;  // of all jobs
  std::vector<std::pair<Duration, policy::MachineSample>> machine;

  // How the only attempt of a job ended.
  [[nodiscard]] const End& end_of(std::size_t number) const { return ends.find(number)->second; }

  void on_job(JobId /*job*/, const policy::JobSample& sample) override {
    samples.emplace_back(time(), sample);
  }
  void on_machine(const policy::MachineSample& sample) override {
    machine.emplace_back(time(), sample);
  }
  void on_over(JobId ended, const policy::AttemptEnd& end) override {
    ends.emplace(static_cast<std::size_t>(ended), End{.time = time(), .end = end});
  }
  void on_wake() override {
    while (!steps_.empty() && steps_.begin()->first <= time()) {
      const auto step = steps_.begin()->second;
      steps_.erase(steps_.begin());
      step();
    }
    wake();
  }

 private:
  [[nodiscard]] Duration time() const { return executor_.now().time_since_epoch(); }
  void wake() {
    if (!steps_.empty()) executor_.wake_at(Instant(steps_.begin()->first));
  }

  SimulatedExecutor& executor_;
  std::multimap<Duration, std::function<void()>> steps_;
};

}  // namespace plimsoll::sim
