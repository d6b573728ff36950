#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "daemon/jobs/job_runner.h"
#include "daemon/jobs/reporter.h"

namespace plimsoll::daemon {

// A machine whose jobs are written down: one starts at once unless something holds it, and does
// what the test says. As on the real one a kill is asked for first, and the job has ended when its
// processes have; its group may stand for longer.
class FakeJobs : public JobRunner {
 public:
  struct Job {
    policy::JobSpec spec;
    supervisor::JobOwner* owner = nullptr;
    unsigned attempt = 0;
    bool runs = false;
    bool is_paused = false;
    supervisor::Prepared prepared;
    std::optional<std::string> killed;  // for this
    std::vector<int> signals;
  };

  JobId next_id() override { return JobId{++last_}; }

  void enter(const policy::JobSpec& job, supervisor::JobOwner& owner) override {
    Job& made = jobs_[job.id];
    made.spec = job;
    made.owner = &owner;
    tell(job.id, policy::EventKind::queued, "it came");
    start_those_that_may();
  }
  [[nodiscard]] policy::JobSpec within_reach(const policy::JobSpec& job) const override {
    return job;
  }

  Result<void> kill(JobId id, const std::string& reason) override {
    Job* job = running(id);
    if (job == nullptr) return fail(std::errc::operation_in_progress, "it does not run");
    if (!job->killed) job->killed = reason;
    return {};
  }
  Result<void> withdraw(JobId id, const std::string& reason) override {
    const auto found = jobs_.find(id);
    if (found == jobs_.end() || found->second.runs) {
      return fail(std::errc::operation_in_progress, "it does not wait");
    }
    supervisor::JobOwner& owner = *found->second.owner;
    jobs_.erase(found);
    owner.on_job_over({.job = id, .end = {}, .requeue = {}, .reason = reason});
    return {};
  }
  Result<void> pause(JobId id) override {
    Job* job = running(id);
    if (job == nullptr) return fail(std::errc::operation_in_progress, "it does not run");
    job->is_paused = true;
    tell(id, policy::EventKind::frozen, "a user wants it");
    return {};
  }
  Result<void> resume(JobId id) override {
    Job* job = running(id);
    if (job == nullptr) return fail(std::errc::operation_in_progress, "it does not run");
    job->is_paused = false;
    tell(id, policy::EventKind::thawed, "a user wants it");
    return {};
  }
  Result<void> signal(JobId id, int number, std::uint32_t /*asker*/) override {
    jobs_.at(id).signals.push_back(number);
    return {};
  }

  [[nodiscard]] const std::optional<policy::Holding>& holding() const override { return holding_; }
  [[nodiscard]] policy::SchedulerStatus status() const override { return seen; }
  [[nodiscard]] report::HostInfo host() const override { return {}; }

  // From now on nobody starts, for this cause; or those that wait do. `next` waits before others.
  void hold(policy::HoldCause cause, const std::string& reason, JobId next = {}) {
    holding_ = policy::Holding{.job = next, .cause = cause, .reason = reason, .numbers = {}};
  }
  void let_go() {
    holding_.reset();
    start_those_that_may();
  }

  // The main process exits, and nobody else lives. The group stays until remove_group().
  void exits(JobId id, int code) {
    end(id, {.outcome = policy::Outcome::exited, .exit_code = code}, {});
  }
  // Those that were killed are dead.
  void reap() {
    std::vector<JobId> dying;
    for (const auto& [id, job] : jobs_) {
      if (job.killed) dying.push_back(id);
    }
    for (const JobId id : dying) {
      const std::string reason = *jobs_.at(id).killed;
      end(id, {.outcome = policy::Outcome::cancelled}, reason);
      remove_group(id);
    }
  }
  // It is ended for others' sake, and waits again.
  void evict(JobId id) {
    Job& job = jobs_.at(id);
    tell(id, policy::EventKind::evicted, "memory is short");
    const policy::AttemptEnd end{.outcome = policy::Outcome::evicted};
    groups_.emplace(supervisor::AttemptKey{.job = id, .attempt = job.attempt},
                    Group{.owner = job.owner, .end = end, .reason = "memory is short"});
    job.runs = false;
    job.prepared = {};
    job.owner->on_job_over({.job = id,
                            .end = end,
                            .requeue = policy::Requeue{.not_before = {}, .reason = "again"},
                            .reason = "memory is short"});
    tell(id, policy::EventKind::requeued, "again");
  }
  void remove_group(JobId id, unsigned attempt = 0) {
    for (auto it = groups_.begin(); it != groups_.end(); ++it) {
      if (it->first.job != id || (attempt != 0 && it->first.attempt != attempt)) continue;
      const auto gone = groups_.extract(it);
      supervisor::AttemptResult result;
      result.end = gone.mapped().end;
      result.reason = gone.mapped().reason;
      return gone.mapped().owner->on_gone({.key = gone.key(), .result = result, .machine = {}});
    }
  }
  // A process of the job does not wait for its output to be read.
  void make_nonblocking(JobId id) { ::fcntl(jobs_.at(id).prepared.out.get(), F_SETFL, O_NONBLOCK); }
  // As a process of the job does.
  void prints(JobId id, std::string_view text) {
    const int out = jobs_.at(id).prepared.out.get();
    written_ = ::write(out, text.data(), text.size());
  }

  [[nodiscard]] Job* running(JobId id) {
    const auto found = jobs_.find(id);
    return found == jobs_.end() || !found->second.runs ? nullptr : &found->second;
  }
  [[nodiscard]] bool waits(JobId id) const {
    const auto found = jobs_.find(id);
    return found != jobs_.end() && !found->second.runs;
  }
  // The one that came last.
  [[nodiscard]] JobId last() const { return JobId{last_}; }
  [[nodiscard]] std::size_t size() const { return jobs_.size(); }
  [[nodiscard]] ssize_t written() const { return written_; }

  policy::SchedulerStatus seen;  // told as it is

 private:
  struct Group {
    supervisor::JobOwner* owner = nullptr;
    policy::AttemptEnd end;
    std::string reason;
  };

  void tell(JobId id, policy::EventKind kind, const std::string& reason) {
    jobs_.at(id).owner->on_event({.at = {}, .kind = kind, .job = id, .reason = reason});
  }

  void start_those_that_may() {
    std::vector<JobId> waiting;
    for (const auto& [id, job] : jobs_) {
      if (!job.runs) waiting.push_back(id);
    }
    for (const JobId id : waiting) {
      if (holding_) {
        tell(id, policy::EventKind::held, holding_->reason);
      } else {
        start(id);
      }
    }
  }

  void start(JobId id) {
    Job& job = jobs_.at(id);
    job.runs = true;
    tell(id, policy::EventKind::started, "it fits");
    job.prepared = job.owner->prepare({.job = id, .attempt = ++job.attempt, .slot = 1});
    if (job.prepared.refusal) {
      end(id, {.outcome = policy::Outcome::failed_to_start}, *job.prepared.refusal);
      remove_group(id);
    }
  }

  void end(JobId id, const policy::AttemptEnd& end, const std::string& reason) {
    const auto over = jobs_.extract(id);
    const Job& job = over.mapped();
    groups_.emplace(supervisor::AttemptKey{.job = id, .attempt = job.attempt},
                    Group{.owner = job.owner, .end = end, .reason = reason});
    job.owner->on_job_over({.job = id, .end = end, .requeue = {}, .reason = reason});
  }

  std::uint64_t last_ = 0;
  std::map<JobId, Job> jobs_;
  std::map<supervisor::AttemptKey, Group> groups_;  // of attempts that are over
  std::optional<policy::Holding> holding_;
  ssize_t written_ = 0;
};

struct FakeReporter : Reporter {
  void notice(const std::string& text) override { notices.push_back(text); }
  void ended(const report::JobReport& report) override { reports.push_back(report); }
  std::vector<std::string> notices;
  std::vector<report::JobReport> reports;
};

}  // namespace plimsoll::daemon
