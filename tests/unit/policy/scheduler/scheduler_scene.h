#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "policy/scheduler/scheduler.h"

// A scheduler and an executor that does nothing but remember.
namespace plimsoll::policy {

inline constexpr AttemptEnd kOk{
    .outcome = Outcome::exited, .exit_code = 0, .wall = std::chrono::seconds(1)};

// Remembers what it was asked for.
class FakeWorld final : public Executor {
 public:
  [[nodiscard]] Instant now() const override { return now_; }
  void start(const Start& start) override { say("start", start.job); }
  void freeze(JobId job) override { say("freeze", job); }
  void thaw(JobId job) override { say("thaw", job); }
  void reclaim(std::optional<JobId>, Bytes) override { asked.push_back("reclaim"); }
  void kill(JobId job, Outcome cause, std::string) override {
    say("kill " + std::string(name_of(cause)), job);
  }
  void look_soon() override { asked.push_back("look"); }
  void wake_at(std::optional<Instant> when) override { wake = when; }

  std::vector<std::string> take() { return std::exchange(asked, {}); }

  Instant now_{};
  std::vector<std::string> asked;
  std::optional<Instant> wake;

 private:
  void say(const std::string& verb, JobId job) {
    asked.push_back(verb + " " + std::to_string(static_cast<std::uint64_t>(job)));
  }
};

struct Scene : SchedulerListener {
  explicit Scene(QueueConfig queue = {.jobs_max = 100})
      : Scene(SchedulerConfig{.queue = queue,
                              .governor = {.line = Bytes{std::uint64_t{8} << 30}, .cores = 8}}) {}
  explicit Scene(SchedulerConfig config) : scheduler(std::move(config), estimator, this) {}

  void on_event(const Event& event) override { kinds[event.kind]++; }
  void on_job_over(const JobOver& over) override { overs.push_back(over); }
  void on_notice(const std::string& text) override { notices.push_back(text); }

  void enter(unsigned id, std::vector<JobId> needs = {}) {
    JobSpec job;
    job.id = JobId{id};
    job.name = std::to_string(id);
    job.job_class = "class";
    job.command = std::string("true");
    job.needs = std::move(needs);
    job.timeout = timeout;
    job.tenant = tenant;
    scheduler.enter(job);
  }
  void at(Duration t) { executor.now_ = Instant(t); }
  void wakes(Duration t) {
    at(t);
    scheduler.on_wake();
  }

  Estimator estimator;
  FakeWorld executor;
  std::map<EventKind, int> kinds;
  std::vector<JobOver> overs;
  std::vector<std::string> notices;
  std::optional<Duration> timeout;
  Tenant tenant = kHost;
  Scheduler scheduler;
};

}  // namespace plimsoll::policy
