#pragma once

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sim/simulated_scheduler.h"

// Random machines and jobs, and an observer that checks at each turn what must hold of every run.
namespace plimsoll::sim {

struct Setting {
  MachineConfig machine;
  std::vector<SimJob> jobs;
};

// Jobs of a few classes: at once, slowly, in steps, in teeth or with a late peak, from a hundredth
// of the line to more than it has.
class SettingMaker {
 public:
  explicit SettingMaker(std::uint64_t seed) : random_(seed) {}

  Setting make() {
    Setting setting;
    setting.machine.cores = between(1, 16);
    line_ = std::exp(between(std::log(256), std::log(16384)));
    setting.machine.line = Bytes{static_cast<std::uint64_t>(line_ * 1048576)};
    if (chance(0.3)) setting.machine.swap = setting.machine.line;
    const auto classes = static_cast<int>(between(1, 6));
    const auto count = static_cast<int>(between(1, 40));
    std::vector<Class> all;
    for (int i = 0; i < classes; ++i) all.push_back(any_class());
    for (int i = 0; i < count; ++i) {
      const auto which = static_cast<std::size_t>(between(0, classes - 0.001));
      policy::JobSpec spec;
      spec.id = JobId{static_cast<std::uint64_t>(i) + 1};
      spec.name = "job-" + std::to_string(i + 1);
      spec.job_class = "class-" + std::to_string(which);
      spec.command = std::vector<std::string>{spec.job_class};
      if (i > 0 && chance(0.1)) spec.needs = {JobId{static_cast<std::uint64_t>(between(1, i))}};
      setting.jobs.push_back({.spec = spec, .curve = Curve(curve_of(all[which]))});
    }
    setting.machine.noise = Noise::seeded;
    setting.machine.seed = random_();
    if (chance(0.3)) setting.machine.other_load = between(0, 2 * setting.machine.cores);
    return setting;
  }

 private:
  enum class Shape { flat, ramp, steps, teeth, late_peak };
  struct Class {
    Shape shape{};
    double peak, seconds, cores;
  };

  double between(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random_);
  }
  bool chance(double share) { return between(0, 1) < share; }

  Class any_class() {
    return {.shape = static_cast<Shape>(between(0, 4.999)),
            .peak = line_ * std::exp(between(std::log(0.01), std::log(chance(0.1) ? 1.3 : 0.7))),
            .seconds = std::exp(between(std::log(0.5), std::log(600))),
            .cores = between(0.1, 4)};
  }

  std::vector<CurvePoint> curve_of(const Class& kind) {
    const double peak = kind.peak * between(0.7, 1.2);
    const double seconds = kind.seconds * between(0.3, 2);
    std::vector<CurvePoint> points;
    constexpr int kPoints = 24;
    for (int i = 0; i <= kPoints; ++i) {
      const double x = static_cast<double>(i) / kPoints;
      double level = 1;
      switch (kind.shape) {
        case Shape::flat: break;
        case Shape::ramp: level = x; break;
        case Shape::steps: level = std::ceil(x * 4 + 0.01) / 5; break;
        case Shape::teeth: level = i % 4 == 3 ? 0.3 : 0.6 + 0.4 * between(0, 1); break;
        case Shape::late_peak: level = x > 0.8 && x < 0.95 ? 1 : 0.4; break;
      }
      points.push_back({.seconds = seconds * x,
                        .mib = static_cast<float>(peak * level),
                        .cores = static_cast<float>(kind.cores)});
    }
    return points;
  }

  std::mt19937_64 random_;
  double line_ = 0;  // MiB
};

// What was found to be wrong; empty: nothing.
class Watch final : public policy::ExecutorObserver, public policy::SchedulerListener {
 public:
  Watch(const Setting& setting, SimulatedExecutor& executor)
      : setting_(setting), executor_(executor) {
    driver_.emplace(SimulatedRun{.machine = setting.machine, .learnt = {}, .listener = this},
                    setting_.jobs, executor_);
  }

  std::vector<std::string> run() {
    const Stopped stopped = executor_.run(*this);
    const policy::Scheduler& scheduler = driver_->scheduler();
    if (!scheduler.is_over()) {
      fail("not everything has ended; stopped with " + std::to_string(static_cast<int>(stopped)));
    }
    for (const SimJob& job : setting_.jobs) {
      check_end(job);
    }
    if (executor_.attempts_alive() > 0) fail("something is left running");
    if (scheduler.status().frozen > 0) fail("something is left frozen");
    return wrong_;
  }

  void on_job(JobId job, const policy::JobSample& sample) override {
    driver_->on_job(job, sample);
    check();
  }
  void on_last_look(JobId job, const policy::JobSample& sample) override {
    driver_->on_last_look(job, sample);
    check();
  }
  void on_machine(const policy::MachineSample& sample) override {
    driver_->on_machine(sample);
    check();
  }
  void on_over(JobId job, const policy::AttemptEnd& end) override {
    // A job that has more than the line by itself may do so faster than anybody can look.
    if (end.outcome == policy::Outcome::machine_oom && fits(job)) {
      fail("the kernel killed a job that fits");
    }
    driver_->on_over(job, end);
    check();
  }
  void on_wake() override {
    driver_->on_wake();
    check();
  }

  // Whom the scheduler lets run: the oldest of them is the keel.
  void on_event(const policy::Event& event) override {
    using Kind = policy::EventKind;
    has_event_ = true;
    if (!event.job) return;
    const auto is_it = [&](const auto& attempt) { return attempt.second == *event.job; };
    if (event.kind == Kind::started) {
      attempts_.emplace(event.at, *event.job);
      if (event.at - begun_ > kPatience + one_after_the_other() * 2) {
        fail(job_of(*event.job).spec.name +
             " has waited for longer than all jobs take by themselves");
      }
    }
    if (event.kind == Kind::evicted && is_it(*attempts_.begin())) fail("the keel was evicted");
    const bool goes = event.kind == Kind::evicted || event.kind == Kind::failed ||
                      event.kind == Kind::requeued || event.kind == Kind::ended;
    if (goes) std::erase_if(attempts_, is_it);
  }

  void on_job_over(const policy::JobOver& over) override {
    if (!over.requeue) ends_[over.job].push_back(over);
  }

 private:
  void fail(const std::string& what) {
    const double t = std::chrono::duration<double>(executor_.now().time_since_epoch()).count();
    if (wrong_.size() < 5) wrong_.push_back("at " + std::to_string(t) + " s: " + what);
  }

  [[nodiscard]] const SimJob& job_of(JobId job) const {
    return setting_.jobs[static_cast<std::size_t>(job) - 1];
  }

  // What all jobs take when each has the machine to itself, but for the load of others.
  [[nodiscard]] Duration one_after_the_other() const {
    double seconds = 0;
    for (const SimJob& job : setting_.jobs) {
      const double cores = job.curve.points().front().cores;
      const double wanted = cores + setting_.machine.other_load;
      seconds += job.curve.seconds() * std::max(1.0, wanted / setting_.machine.cores);
    }
    return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds));
  }

  // With the line to itself.
  [[nodiscard]] bool fits(JobId job) const {
    return job_of(job).curve.peak_mib() * 1048576 <=
           static_cast<double>(setting_.machine.line.count);
  }

  // Also whatever it needs, so that nothing skips it.
  [[nodiscard]] bool can_end_well(JobId job) const {
    const std::vector<JobId>& needs = job_of(job).spec.needs;
    return fits(job) && std::all_of(needs.begin(), needs.end(),
                                    [this](JobId needed) { return can_end_well(needed); });
  }

  void check_end(const SimJob& job) {
    const std::vector<policy::JobOver>& ends = ends_[job.spec.id];
    if (ends.size() != 1) return fail(job.spec.name + " ended not once");
    const auto& end = ends.front().end;
    if (can_end_well(job.spec.id) && (!end || end->outcome != policy::Outcome::exited)) {
      fail(job.spec.name + ", which fits, has not ended well: " + ends.front().reason);
    }
  }

  // Who is frozen and who is the oldest changes by events; what changed without one is seen later.
  void check_states() {
    const policy::SchedulerStatus status = driver_->scheduler().status();
    if (!status.jobs.empty() && status.jobs.front().state == policy::JobState::frozen) {
      fail("the keel is frozen");
    }
    std::map<JobId, Instant> frozen;
    for (const policy::JobStatus& job : status.jobs) {
      if (job.state != policy::JobState::frozen) continue;
      const auto since = frozen_since_.find(job.job);
      frozen.emplace(job.job, since == frozen_since_.end() ? executor_.now() : since->second);
    }
    frozen_since_ = std::move(frozen);
  }

  void check() {
    constexpr unsigned kChecksUnseen = 64;
    if (std::exchange(has_event_, false) || ++checks_ % kChecksUnseen == 0) check_states();
    for (const auto& [job, since] : frozen_since_) {
      if (executor_.now() - since > std::chrono::minutes(31)) fail("frozen for too long");
    }
    constexpr std::uint64_t kAbove = 32 << 20;
    const Bytes line = setting_.machine.line;
    const Bytes allowed{line.count + std::max(line.count * 3 / 100, kAbove)};
    if (executor_.used() <= allowed) {
      over_since_.reset();
    } else if (!over_since_) {
      over_since_ = executor_.now();
    } else if (executor_.now() - *over_since_ > std::chrono::seconds(1)) {
      fail("past the line for over a second, by " +
           std::to_string((executor_.used() - line).count >> 20) + " MiB of " +
           std::to_string(line.count >> 20));
    }
  }

  // For pauses and second attempts of short jobs.
  static constexpr Duration kPatience = std::chrono::minutes(2);

  const Setting& setting_;
  SimulatedExecutor& executor_;
  const Instant begun_{executor_.now()};
  std::optional<SimulatedScheduler> driver_;
  std::map<JobId, std::vector<policy::JobOver>>
      ends_;                                      // without those that another attempt followed
  std::set<std::pair<Instant, JobId>> attempts_;  // not condemned, by age
  std::map<JobId, Instant> frozen_since_;
  bool has_event_ = false;  // since the last look at the states
  unsigned checks_ = 0;
  std::optional<Instant> over_since_;
  std::vector<std::string> wrong_;
};

}  // namespace plimsoll::sim
