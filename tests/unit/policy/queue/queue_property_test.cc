#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "eager_starts.h"
#include "policy/queue/queue.h"

// Any jobs, ends and interruptions: what holds of every run, on simulated time.
namespace plimsoll::policy {
namespace {

using namespace std::chrono_literals;

struct Plan {
  QueueConfig config;
  std::vector<JobSpec> jobs;
  bool may_stop = false;  // by a halt or Ctrl-C
};

JobSpec job(unsigned id) {
  JobSpec spec;
  spec.id = JobId{id};
  spec.name = "job-" + std::to_string(id);
  return spec;
}

rc::Gen<int> between(int low, int high) { return rc::gen::inRange(low, high + 1); }

Plan any_plan() {
  Plan plan;
  plan.config.jobs_max = static_cast<unsigned>(*between(1, 5));
  plan.config.delay = std::chrono::seconds(*between(0, 2));
  plan.may_stop = *rc::gen::arbitrary<bool>();
  if (plan.may_stop && *rc::gen::arbitrary<bool>()) {
    plan.config.halt = *parse_halt(*rc::gen::element<std::string>(
        "soon,fail=2", "now,fail=30%", "now,done=5", "soon,success=50%"));
  }
  const int count = *between(0, 30);
  // Needs point along a random order, not always backwards, and so have no cycle.
  std::vector<unsigned> order;
  for (int i = 1; i <= count; ++i) order.push_back(static_cast<unsigned>(i));
  for (std::size_t i = order.size(); i > 1; --i) {
    std::swap(order[i - 1], order[static_cast<std::size_t>(*between(0, static_cast<int>(i) - 1))]);
  }
  for (std::size_t place = 0; place < order.size(); ++place) {
    JobSpec spec = job(order[place]);
    spec.priority = *between(-1, 1);
    spec.retries = static_cast<unsigned>(*between(0, 2));
    spec.restartable = *between(0, 3) != 0;
    for (int i = *between(0, 2); i > 0 && place > 0; --i) {
      spec.needs.push_back(JobId{order[static_cast<std::size_t>(*between(0, 1 << 20)) % place]});
    }
    plan.jobs.push_back(std::move(spec));
  }
  std::sort(plan.jobs.begin(), plan.jobs.end(),
            [](const JobSpec& a, const JobSpec& b) { return a.id < b.id; });
  return plan;
}

AttemptEnd any_end() {
  AttemptEnd end{.wall = std::chrono::seconds(*between(0, 9))};
  end.outcome = *rc::gen::weightedElement<Outcome>({{12, Outcome::exited},
                                                    {2, Outcome::signalled},
                                                    {2, Outcome::timed_out},
                                                    {2, Outcome::machine_oom},
                                                    {2, Outcome::evicted},
                                                    {1, Outcome::over_limit},
                                                    {1, Outcome::failed_to_start},
                                                    {1, Outcome::cancelled}});
  if (end.outcome == Outcome::exited)
    end.exit_code = *rc::gen::weightedElement<int>({{4, 0}, {1, 1}});
  return end;
}

// Plays a plan against a queue and checks each turn what must hold.
class Play {
 public:
  explicit Play(Plan plan) : plan_(std::move(plan)), queue_(plan_.config), starts_(queue_) {
    for (const JobSpec& spec : plan_.jobs) specs_[spec.id] = &spec;
  }

  void run() {
    // Each job has at most 1 + 2 retries + kLostAttemptsMax attempts, each turn ends one or enters
    // one or waits for one wake-up.
    const std::size_t turns_max = plan_.jobs.size() * 30 + 100;
    for (std::size_t turn = 0; entered_ < plan_.jobs.size() || queue_.unfinished() > 0; ++turn) {
      RC_ASSERT(turn < turns_max);
      step();
      apply(queue_.settle(now_));
      for (const Start& start : starts_.at(now_)) started(start);
      check_running();
      check_progress();
    }
    for (const JobSpec& spec : plan_.jobs) RC_ASSERT(ended_.contains(spec.id));
    RC_ASSERT(queue_.running() == 0);
  }

 private:
  void step() {
    if (entered_ < plan_.jobs.size() && *rc::gen::arbitrary<bool>()) {
      starts_.enter(plan_.jobs[entered_++]);
    } else if (plan_.may_stop && *between(0, 40) == 0) {
      queue_.interrupt();
      interrupted_ = true;
    } else if (!running_.empty()) {
      auto some = running_.begin();
      std::advance(some, *between(0, static_cast<int>(running_.size()) - 1));
      leave(some->first);
    } else if (const auto wake = queue_.next_wake()) {
      now_ = std::max(now_, *wake);
    } else if (entered_ < plan_.jobs.size()) {
      starts_.enter(plan_.jobs[entered_++]);
    } else {
      RC_FAIL("nothing runs, nothing will wake, jobs remain");
    }
  }

  void leave(JobId id) {
    const AttemptEnd end = any_end();
    now_ += end.wall;
    running_.erase(id);
    const auto again = queue_.leave(id, end, now_);
    if (again) {
      RC_ASSERT(!succeeded(end));
      RC_ASSERT(again->not_before > now_);
      RC_ASSERT(!again->reason.empty());
      earliest_[id] = again->not_before;
    } else {
      ends(id, succeeded(end));
    }
  }

  void ends(JobId id, bool success) { RC_ASSERT(ended_.emplace(id, success).second); }

  void apply(const std::vector<Decision>& decisions) {
    for (const Decision& decision : decisions) {
      RC_ASSERT(!decision.reason.empty());
      if (const auto* skip = std::get_if<Skip>(&decision.action)) {
        RC_ASSERT(!attempts_.contains(skip->job));
        if (!plan_.may_stop) RC_ASSERT(needs_a_failed_one(skip->job));
        ends(skip->job, false);
      } else if (const auto* give_up = std::get_if<GiveUp>(&decision.action)) {
        RC_ASSERT(plan_.may_stop);
        RC_ASSERT(attempts_.contains(give_up->job));
        RC_ASSERT(!running_.contains(give_up->job));
        ends(give_up->job, false);
      } else {
        const JobId job = std::get<Cancel>(decision.action).job;
        RC_ASSERT(running_.contains(job));
        RC_ASSERT(cancelled_.insert(job).second);
      }
    }
  }

  void check_running() const {
    RC_ASSERT(running_.size() <= plan_.config.jobs_max);
    RC_ASSERT(queue_.running() == running_.size());
  }

  void started(const Start& start) {
    RC_ASSERT(!ended_.contains(start.job));
    RC_ASSERT(start.attempt == ++attempts_[start.job]);
    RC_ASSERT(start.slot >= 1 && start.slot <= plan_.config.jobs_max);
    for (const auto& [job, slot] : running_) RC_ASSERT(slot != start.slot);
    for (const JobId need : specs_[start.job]->needs) RC_ASSERT(ended_.at(need));
    if (earliest_.contains(start.job)) RC_ASSERT(now_ >= earliest_[start.job]);
    if (last_start_) RC_ASSERT(now_ >= *last_start_ + plan_.config.delay);
    RC_ASSERT(!interrupted_);
    last_start_ = now_;
    RC_ASSERT(running_.emplace(start.job, start.slot).second);
  }

  bool needs_a_failed_one(JobId job) {
    const auto& needs = specs_[job]->needs;
    return std::any_of(needs.begin(), needs.end(),
                       [this](JobId need) { return ended_.contains(need) && !ended_.at(need); });
  }

  // After a tick a free slot and a job that could use it mean that something will wake the queue,
  // and nothing is left whose needs have failed.
  void check_progress() {
    for (std::size_t i = 0; i < entered_; ++i) {
      const JobId job = plan_.jobs[i].id;
      if (ended_.contains(job) || running_.contains(job)) continue;
      RC_ASSERT(!needs_a_failed_one(job));
      const auto& needs = plan_.jobs[i].needs;
      const bool could_run = std::all_of(needs.begin(), needs.end(),
                                         [this](JobId need) { return ended_.contains(need); });
      if (could_run && running_.size() < plan_.config.jobs_max) RC_ASSERT(queue_.next_wake());
    }
  }

  Plan plan_;
  Queue queue_;
  EagerStarts starts_;
  std::map<JobId, const JobSpec*> specs_;
  std::size_t entered_ = 0;
  Instant now_{};
  bool interrupted_ = false;
  std::optional<Instant> last_start_;
  std::map<JobId, unsigned> running_;  // and the slot
  std::map<JobId, unsigned> attempts_;
  std::map<JobId, Instant> earliest_;
  std::map<JobId, bool> ended_;  // and whether with success
  std::set<JobId> cancelled_;
};

RC_GTEST_PROP(QueueProperty, EveryJobEndsOnceAndTheRulesHold, ()) { Play(any_plan()).run(); }

// O(log n): a hundred thousand jobs, half of them hanging on others, are through in moments.
TEST(QueueSize, AHundredThousandJobs) {
  constexpr unsigned kJobs = 100'000;
  Queue queue({.jobs_max = 64});
  EagerStarts starts(queue);
  for (unsigned id = 1; id <= kJobs; ++id) {
    JobSpec spec = job(id);
    if (id % 2 == 0) spec.needs = {JobId{id - 1}};
    spec.priority = static_cast<int>(id % 3);
    starts.enter(spec);
  }
  std::size_t ended = 0;
  std::vector<JobId> running;
  while (queue.unfinished() > 0) {
    for (const Decision& decision : queue.settle(Instant{})) {
      if (std::holds_alternative<Skip>(decision.action)) ++ended;
    }
    for (const Start& start : starts.at(Instant{})) running.push_back(start.job);
    for (const JobId job : std::exchange(running, {})) {
      const int code = static_cast<unsigned long>(job) % 5 == 0 ? 1 : 0;
      EXPECT_FALSE(queue.leave(job, {.outcome = Outcome::exited, .exit_code = code}, Instant{}));
      ++ended;
    }
  }
  EXPECT_EQ(ended, kJobs);
}

}  // namespace
}  // namespace plimsoll::policy
