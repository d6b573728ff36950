#pragma once

#include <gtest/gtest.h>

#include <functional>
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
                  const std::function<void()>& takes)
      : log(journal), sampled(samples), on_look(takes) {}
  ~ModelProcessSet() override { log.push_back("place closed"); }
  ModelProcessSet(const ModelProcessSet&) = delete;
  ModelProcessSet& operator=(const ModelProcessSet&) = delete;
  ExternalSample look(Instant now) override {
    sampled.push_back(now);
    if (on_look) on_look();
    return {.used = 70_MiB, .cpu = 3s, .io = {}};
  }
  void weigh(unsigned weight) override { log.push_back("place weighs " + std::to_string(weight)); }
  void freeze() override { log.push_back("place frozen"); }
  void thaw() override { log.push_back("place thawed"); }
  void kill(Instant) override { log.push_back("place killed"); }
  std::vector<std::string>& log;
  std::vector<Instant>& sampled;
  const std::function<void()>& on_look;
};

// ExternalJobs with a scheduler that keeps a list: what was asked of it is in `asked`, what clients
// were told in `told`.
struct GuestsTest : ::testing::Test {
  ExternalHooks hooks() {
    return {
        .now = [this] { return now; },
        .next_id = [this] { return JobId{++last}; },
        .enter = [this](const policy::JobSpec& job) { entered.push_back(job); },
        .seen = [this](JobId, const policy::JobSample& sample) { samples.push_back(sample); },
        .over =
            [this](JobId job, const policy::AttemptEnd& end) {
              asked.push_back("over " + std::string(name_of(end.outcome)));
              ends.push_back(end);
              policy::JobOver over{.job = job, .end = end, .requeue = {}, .reason = "over"};
              if (again.contains(job)) over.requeue = policy::Requeue{};
              external_jobs.on_job_over(over);
            },
        .withdraw =
            [this](JobId job, const std::string& reason) {
              asked.push_back("withdraw: " + reason);
              external_jobs.on_job_over({.job = job, .end = {}, .requeue = {}, .reason = reason});
            },
        .cancel =
            [this](JobId job, const std::string& reason) {
              external_jobs.kill(job, policy::Outcome::cancelled, reason);
            },
        .open_place = [this](const ExternalLocation&,
                             const Peer& peer) -> Result<std::unique_ptr<ExternalProcessSet>> {
          if (peer.uid != 0) return fail(std::errc::permission_denied, "not the peer's");
          return std::make_unique<ModelProcessSet>(told, sampled, on_look);
        },
        .uid = 0,
        .machine = {.memory = 64_GiB, .cpus = 8}};
  }

  ExternalListener listener() {
    return {.admit = [this](const std::string& name, unsigned attempt,
                            const std::string&) { tell("admit", name, std::to_string(attempt)); },
            .hold = [this](const std::string& name, policy::HoldCause cause,
                           const std::string&) { tell("hold", name, policy::name_of(cause)); },
            .pause = [this](const std::string& name,
                            const std::string& reason) { tell("pause", name, reason); },
            .resume = [this](const std::string& name,
                             const std::string& reason) { tell("resume", name, reason); },
            .cancel =
                [this](const std::string& name, policy::Outcome cause, const std::string&,
                       Again later) {
                  tell("cancel", name, name_of(cause));
                  if (later == Again::later) told.back() += ", again";
                },
            .left =
                [this](const std::string& name, Again later, const std::string&) {
                  tell("left", name, later == Again::later ? "again" : "for good");
                }};
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
    external_jobs.on_event({.at = now, .kind = kind, .job = job, .reason = reason});
  }

  Instant now{100s};
  std::uint64_t last = 0;
  std::vector<policy::JobSpec> entered;
  std::vector<policy::JobSample> samples;
  std::vector<policy::AttemptEnd> ends;
  std::vector<std::string> asked, told;
  std::vector<Instant> sampled;   // the moments that places were looked at for
  std::function<void()> on_look;  // within each look
  std::set<JobId> again;          // that get another attempt
  ExternalJobs external_jobs{hooks()};
  ClientId client = external_jobs.open({.uid = 0}, listener());
};

}  // namespace plimsoll::supervisor::scene
