#include <algorithm>
#include <functional>
#include <utility>

#include "policy/scheduler/scheduler.h"

// How jobs come to the governor, wait for it, each as one of a kind, and end without an attempt.
namespace plimsoll::policy {
namespace {

// So many jobs are told of, begin to wait or end unstarted in one turn; the rest follow in the next
// turns. At some 10 us each the thread is away for 10 ms, however many there are at once.
constexpr std::size_t kJobsPerTurn = 1000;

}  // namespace

// Whatever any job does comes by here: with hundreds that run, all turns together would leave
// nothing else its turn for as long as there is something to catch up with. So what is left over
// waits for a wake of its own.
void Scheduler::catch_up() {
  if (resume_at_) return;
  std::size_t left = kJobsPerTurn;
  for (; left > 0 && !untold_.empty(); --left) {
    tell(EventKind::queued, untold_.front(), {});
    untold_.pop_front();
  }
  for (; left > 0 && !arriving_.empty(); --left) {
    const JobId job = arriving_.front();
    arriving_.pop_front();
    if (queue_.is_waiting(job)) wait_for_governor(jobs_.at(job));
  }
  for (; left > 0 && !unended_.empty(); --left) {
    const JobOver over = std::move(unended_.front());
    unended_.pop_front();
    forget(over.job);
    tell(EventKind::ended, over.job, over.reason);
    if (listener_ != nullptr) listener_->on_job_over(over);
  }
  if (is_behind()) resume_at_ = now() + kBehindGap;
}

// The class, or the tool if only that has a cap: "ld" caps every way of linking.
const std::string& Scheduler::capped_as(const JobRecord& job) const {
  return caps_.of(job.key.exact) ? job.key.exact : job.key.tool;
}

void Scheduler::leave_place(JobRecord& job) {
  const std::string name = std::exchange(job.capped_as, {});
  if (name.empty()) return;
  if (const auto next = caps_.leave(name, job.ready.job)) arriving_.push_back(*next);
}

bool Scheduler::take_place(JobRecord& job) {
  if (job.capped_as.empty()) return true;
  const ClassCaps::Claim claim{.job = job.ready.job,
                               .tenant = job.ready.tenant,
                               .priority = job.ready.priority,
                               .is_command = job.ready.is_command};
  if (caps_.take(job.capped_as, claim)) return true;
  if (!job.ready.is_command) return false;
  const auto put_off = caps_.take_from_waiting(job.capped_as, claim);
  if (!put_off) return false;
  JobRecord& other = jobs_.at(*put_off);
  stop_waiting(other);
  stand_aside(other);
  return true;
}

void Scheduler::stand_aside(JobRecord& job) {
  if (!job.was_held) ++counts_.holds;
  job.was_held = true;
  const unsigned most = *caps_.of(job.capped_as);
  tell(EventKind::held, job.ready.job,
       "waits for others of its class: of \"" + job.capped_as + "\" at most " +
           std::to_string(most) + (most == 1 ? " runs" : " run") + " at once",
       {{"cap", static_cast<double>(most)}}, HoldCause::cap);
}

void Scheduler::wait_for_governor(JobRecord& job) {
  if (job.ready.waits_since) return;
  if (const std::string& name = capped_as(job); caps_.of(name)) job.capped_as = name;
  if (!take_place(job)) return stand_aside(job);
  job.was_held = false;
  enter_governor(job, now());
}

void Scheduler::enter_governor(JobRecord& job, Instant since) {
  kinds_.add_waiting(job.ready.kind);
  kinds_.refresh_now(job.ready.kind, estimator_, governor_);
  governor_.enter(job.ready, since);
}

void Scheduler::stop_waiting(JobRecord& job) {
  if (!job.ready.waits_since) return;
  kinds_.remove_waiting(job.ready.kind);
  governor_.withdraw(job.ready);
}

void Scheduler::take_kinds_anew(const Key& key) {
  for (const auto& [job, record] : jobs_) {
    const bool is_of_class = record.key.exact == key.exact && record.key.owner == key.owner;
    if (record.attempt == nullptr && is_of_class) unsorted_.push_back(job);
  }
  // From the back, so in the order of input.
  std::sort(unsorted_.begin(), unsorted_.end(), std::greater<>());
}

void Scheduler::take_kinds_anew() {
  for (std::size_t done = 0; done < kRefreshedMax && !unsorted_.empty(); ++done) {
    const JobId job = unsorted_.back();
    unsorted_.pop_back();
    const auto found = jobs_.find(job);
    if (found == jobs_.end() || found->second.attempt != nullptr) continue;
    JobRecord& record = found->second;
    const Kind before = record.ready.kind;
    const Kind kind = kinds_.take(record.key, record.facts, estimator_, record.ready.tenant);
    if (kind == before) {
      kinds_.give_back(kind, governor_);
      continue;
    }
    const auto waits_since = record.ready.waits_since;
    stop_waiting(record);
    kinds_.give_back(before, governor_);
    record.ready.kind = kind;
    if (waits_since) enter_governor(record, *waits_since);
  }
}

// The governor hears of it at once, others in their turn.
void Scheduler::end_unstarted(JobOver over) {
  JobRecord& job = jobs_.at(over.job);
  stop_waiting(job);
  leave_place(job);
  unended_.push_back(std::move(over));
}

void Scheduler::forget(JobId job) {
  const auto record = jobs_.extract(job);
  kinds_.give_back(record.mapped().ready.kind, governor_);
  if (const auto& of = record.mapped().part_of) command_ended(*of);
}

}  // namespace plimsoll::policy
