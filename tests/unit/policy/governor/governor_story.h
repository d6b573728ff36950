#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "policy/governor/governor.h"

// A governor on simulated time, for stories: jobs of one kind each unless said otherwise, times in
// seconds since the start, memory in MiB.
namespace plimsoll::policy {

inline Bytes mib(double count) { return {static_cast<std::uint64_t>(count * 1048576)}; }

inline Instant at(double seconds) {
  return Instant(std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds)));
}

struct Expected {
  double mib = 100;
  double seconds = 60;
  double cores = 1;
  double spread = 0;  // MiB
  std::uint32_t known = 10;
};

// A job that takes its memory at once and keeps it to its end.
inline Estimate flat(const Expected& expected) {
  Estimate estimate;
  estimate.peak = {expected.mib * 1048576, expected.spread * 1048576};
  for (std::size_t i = 0; i < kHorizons.size(); ++i) {
    estimate.ahead[i] = estimate.peak;
    const bool over = std::chrono::duration<double>(kHorizons[i]).count() > expected.seconds;
    estimate.survival[i] = over ? 0 : 1;
  }
  estimate.cores = {expected.cores, 0};
  estimate.remaining = {expected.seconds, 0};
  estimate.basis = expected.known > 0 ? Basis::exact : Basis::prior;
  estimate.attempts_known = expected.known;
  return estimate;
}

// Rulings as words: "admit 3", "freeze 2".
inline std::string word(const Action& action) {
  const auto id = [](JobId job) { return std::to_string(static_cast<std::uint64_t>(job)); };
  if (const auto* it = std::get_if<Admit>(&action)) return "admit " + id(it->job);
  if (const auto* it = std::get_if<Freeze>(&action)) return "freeze " + id(it->job);
  if (const auto* it = std::get_if<Thaw>(&action)) return "thaw " + id(it->job);
  if (const auto* it = std::get_if<Evict>(&action)) return "evict " + id(it->job);
  if (const auto* it = std::get_if<Fail>(&action)) return "fail " + id(it->job);
  const auto& reclaim = std::get<Reclaim>(action);
  return reclaim.job ? "reclaim " + id(*reclaim.job) : "reclaim";
}

// The job of a decision in words.
inline unsigned number_in(const std::string& word) {
  return static_cast<unsigned>(to_u64(word.substr(word.find(' ') + 1)).value_or(0));
}

struct Story {
  explicit Story(GovernorConfig config) : governor(config) {}

  void waits(unsigned id, const Expected& expected, double t = 0, int priority = 0,
             unsigned lost = 0, bool restartable = true, Tenant tenant = kHost) {
    governor.expect(Kind{id}, flat(expected));
    enters({.job = JobId{id},
            .kind = Kind{id},
            .priority = priority,
            .restartable = restartable,
            .lost = lost,
            .tenant = tenant},
           t);
    estimates[id] = flat(expected);
  }

  // The same of a user's job.
  void waits_for(unsigned tenant, unsigned id, const Expected& expected, double t = 0) {
    waits(id, expected, t, 0, 0, true, Tenant{tenant});
  }

  void enters(Ready job, double t = 0) {
    Ready& kept = jobs[job.job];
    kept = std::move(job);
    governor.enter(kept, at(t));
  }
  Ready& job(unsigned id) { return jobs.at(JobId{id}); }
  bool is_frozen(unsigned id) { return job(id).member->state == MemberState::frozen; }

  // What is decided at this moment.
  std::vector<std::string> rules(double t, unsigned starts_max = 1000) {
    std::vector<std::string> words;
    reasons.clear();
    for (const Decision& decision : governor.rule(at(t), starts_max)) {
      words.push_back(word(decision.action));
      reasons.push_back(decision.reason);
    }
    return words;
  }

  // Memory of a running job, and of the pool with it.
  void uses(unsigned id, double t, double mib_used, double started = 0) {
    used[id] = mib_used;
    cpu[id] += 0.1;
    governor.observe(
        job(id),
        {.ran = at(t) - at(started),
         .used = mib(mib_used),
         .peak = mib(mib_used),
         .cpu = std::chrono::duration_cast<Duration>(std::chrono::duration<double>(cpu[id]))},
        at(t));
  }
  // Its client says so much of it: counted up to what it was admitted with.
  void is_told_to_use(unsigned id, double t, double mib_told, double started = 0) {
    const double admitted_with = estimates.at(id).peak.mean / 1048576;
    used[id] = std::min(mib_told, admitted_with);
    governor.observe(job(id),
                     {.ran = at(t) - at(started),
                      .used = mib(used[id]),
                      .peak = mib(used[id]),
                      .claimed = mib(mib_told - used[id])},
                     at(t));
  }
  void samples(double t, MachineSample sample = {}) {
    double all = 0;
    for (const auto& [id, one] : used) all += one;
    sample.pool_used = mib(all);
    governor.tick(sample, at(t));
  }
  // What a look at the pool alone shows.
  void pool_has(double mib_used, double t) {
    MachineSample sample;
    sample.pool_used = mib(mib_used);
    governor.tick(sample, at(t));
  }
  void ends(unsigned id, double t, Outcome outcome = Outcome::exited) {
    used.erase(id);
    AttemptEnd end{.outcome = outcome};
    if (outcome == Outcome::exited) end.exit_code = 0;
    governor.leave(job(id), end, at(t));
    samples(t);
  }

  Governor governor;
  std::map<JobId, Ready> jobs;
  std::map<unsigned, Estimate> estimates;
  std::map<unsigned, double> used, cpu;
  std::vector<std::string> reasons;  // of the last rules()
};

}  // namespace plimsoll::policy
