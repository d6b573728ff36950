#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "supervisor/external/external_jobs.h"

// ExternalJobs beside a scheduler that keeps a list, for tests.
namespace plimsoll::supervisor::scene {

using namespace literals;
using namespace std::chrono_literals;

// A place that does as it is told.
struct ModelProcessSet : ExternalProcessSet {
  ModelProcessSet(std::vector<std::string>& journal, std::vector<Instant>& samples,
                  const std::function<void()>& takes, const std::optional<Bytes>& writes)
      : log(journal), sampled(samples), on_look(takes), has_written(writes) {}
  ~ModelProcessSet() override { log.push_back("place closed"); }
  ModelProcessSet(const ModelProcessSet&) = delete;
  ModelProcessSet& operator=(const ModelProcessSet&) = delete;
  ExternalSample look(Instant now) override {
    sampled.push_back(now);
    if (on_look) on_look();
    return {.used = 70_MiB, .cpu = 3s, .io = {}};
  }
  std::optional<Bytes> written(Instant) override { return has_written; }
  void weigh(unsigned weight) override { log.push_back("place weighs " + std::to_string(weight)); }
  void freeze() override { log.push_back("place frozen"); }
  void thaw() override { log.push_back("place thawed"); }
  void kill(Instant) override { log.push_back("place killed"); }
  std::vector<std::string>& log;
  std::vector<Instant>& sampled;
  const std::function<void()>& on_look;
  const std::optional<Bytes>& has_written;
};

// ExternalJobs with a scheduler that keeps a list: what was asked of it is in `asked`, what clients
// were told in `told`.
struct GuestsTest : ::testing::Test, ExternalJobsHost, ExternalListener {
  explicit GuestsTest(Writes writes = Writes::ignored)
      : external_jobs{*this,
                      {.uid = 0, .machine = {.memory = 64_GiB, .cpus = 8}, .writes = writes}} {}
  [[nodiscard]] Instant now() const override { return at; }
  JobId next_id() override { return JobId{++last}; }
  void enter(const policy::JobSpec& job) override { entered.push_back(job); }
  void on_sampled(JobId, const policy::JobSample& sample) override { samples.push_back(sample); }
  void on_attempt_over(JobId job, const policy::AttemptEnd& end) override {
    asked.push_back("over " + std::string(name_of(end.outcome)));
    ends.push_back(end);
    policy::JobOver over{.job = job, .end = end, .requeue = {}, .reason = "over"};
    if (again.contains(job)) over.requeue = policy::Requeue{};
    external_jobs.on_job_over(over);
  }
  void withdraw(JobId job, const std::string& reason) override {
    asked.push_back("withdraw: " + reason);
    external_jobs.on_job_over({.job = job, .end = {}, .requeue = {}, .reason = reason});
  }
  void cancel(JobId job, const std::string& reason) override {
    external_jobs.kill(job, policy::Outcome::cancelled, reason);
  }
  Result<std::unique_ptr<ExternalProcessSet>> open_place(const ExternalLocation&,
                                                         const Peer& peer) override {
    if (peer.uid != 0) return fail(std::errc::permission_denied, "not the peer's");
    return std::make_unique<ModelProcessSet>(told, sampled, on_look, has_written);
  }

  void on_admit(const std::string& name, unsigned attempt, const std::string&) override {
    tell("admit", name, std::to_string(attempt));
  }
  void on_hold(const std::string& name, policy::HoldCause cause, const std::string&) override {
    tell("hold", name, policy::name_of(cause));
  }
  void on_pause(const std::string& name, const std::string& reason) override {
    tell("pause", name, reason);
  }
  void on_resume(const std::string& name, const std::string& reason) override {
    tell("resume", name, reason);
  }
  void on_cancel(const std::string& name, policy::Outcome cause, const std::string&,
                 Again later) override {
    tell("cancel", name, name_of(cause));
    if (later == Again::later) told.back() += ", again";
  }
  void on_left(const std::string& name, Again later, const std::string&) override {
    tell("left", name, later == Again::later ? "again" : "for good");
  }

  void tell(const std::string& what, const std::string& name, std::string_view more) {
    told.push_back(what + " " + name + ": " + std::string(more));
  }

  JobId enter(const std::string& name, ExternalSpec spec = {}) {
    spec.name = name;
    const auto entered_it = external_jobs.enter(client, spec);
    EXPECT_TRUE(entered_it) << entered_it.error().message();
    return entered.empty() ? JobId{} : entered.back().id;
  }

  JobId run(const std::string& name, const ExternalSpec& spec = {}) {
    const JobId job = enter(name, spec);
    external_jobs.start({.job = job, .attempt = 1, .slot = 1});
    told.clear();
    return job;
  }

  void decide(policy::EventKind kind, JobId job, const std::string& reason) {
    external_jobs.on_event({.at = at, .kind = kind, .job = job, .reason = reason});
  }

  Instant at{100s};
  std::uint64_t last = 0;
  std::vector<policy::JobSpec> entered;
  std::vector<policy::JobSample> samples;
  std::vector<policy::AttemptEnd> ends;
  std::vector<std::string> asked, told;
  std::vector<Instant> sampled;        // the moments that places were looked at for
  std::function<void()> on_look;       // within each look
  std::set<JobId> again;               // that get another attempt
  std::optional<Bytes> has_written{};  // by who is at a place
  ExternalJobs external_jobs;
  ClientId client = external_jobs.open({.uid = 0}, *this);
};

}  // namespace plimsoll::supervisor::scene
