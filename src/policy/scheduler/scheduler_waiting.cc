#include <algorithm>
#include <functional>

#include "policy/scheduler/scheduler.h"
#include "policy/scheduler/scheduler_state.h"

// How jobs come to the governor, wait for it, each as one of a kind, and end without an attempt.
namespace plimsoll::policy {
namespace {

JobId job_of(const QueueAction& action) {
  return std::visit([](const auto& what) { return what.job; }, action);
}

}  // namespace

// What runs is ended at once; of what ends unstarted the governor hears at once.
void Scheduler::State::note(std::vector<QueueDecision> decisions) {
  for (QueueDecision& decision : decisions) {
    if (const auto* cancel = std::get_if<Cancel>(&decision.action)) {
      kill(cancel->job, Outcome::cancelled, decision.reason);
      continue;
    }
    const JobId job = job_of(decision.action);
    stop_waiting(job, books_.at(job));
    unended_.push_back(std::move(decision));
  }
}

// Whatever any job does comes by here: with hundreds that run, all turns together would leave
// nothing else its turn for as long as there is something to catch up with. So what is left over
// waits for a wake of its own.
void Scheduler::State::catch_up() {
  if (resume_at_) return;
  std::size_t left = kJobsPerTurn;
  for (; left > 0 && !untold_.empty(); --left) {
    tell(EventKind::queued, untold_.front(), {});
    untold_.pop_front();
  }
  for (; left > 0 && !arriving_.empty(); --left) {
    const JobId job = arriving_.front();
    arriving_.pop_front();
    if (queue_.is_waiting(job)) wait_for_governor(job, books_.at(job));
  }
  for (; left > 0 && !unended_.empty(); --left) {
    const QueueDecision decision = std::move(unended_.front());
    unended_.pop_front();
    const bool gave_up = std::holds_alternative<GiveUp>(decision.action);
    end_unstarted(job_of(decision.action), decision.reason, gave_up);
  }
  if (is_behind()) resume_at_ = now() + kBehindGap;
}

void Scheduler::State::wait_for_governor(JobId job, Book& book) {
  book.waits = true;
  book.held = false;
  book.waits_since = now();
  enter_governor(job, book);
}

void Scheduler::State::enter_governor(JobId job, Book& book) {
  kinds_.add_waiting(book.kind);
  kinds_.refresh_now(book.kind, estimator_, governor_);
  governor_.enter({.job = job,
                   .kind = book.kind,
                   .priority = book.priority,
                   .restartable = book.restartable,
                   .lost = book.lost,
                   .tenant = book.tenant},
                  book.waits_since);
}

void Scheduler::State::stop_waiting(JobId job, Book& book) {
  if (!book.waits) return;
  book.waits = false;
  kinds_.remove_waiting(book.kind);
  governor_.withdraw(job);
}

void Scheduler::State::take_kinds_anew(const Key& key) {
  for (const auto& [job, book] : books_) {
    const bool is_of_class = book.key.exact == key.exact && book.key.owner == key.owner;
    if (book.live == nullptr && is_of_class) unsorted_.push_back(job);
  }
  // From the back, so in the order of input.
  std::sort(unsorted_.begin(), unsorted_.end(), std::greater<>());
}

void Scheduler::State::take_kinds_anew() {
  for (std::size_t done = 0; done < kRefreshedMax && !unsorted_.empty(); ++done) {
    const JobId job = unsorted_.back();
    unsorted_.pop_back();
    const auto found = books_.find(job);
    if (found == books_.end() || found->second.live != nullptr) continue;
    Book& book = found->second;
    const Kind kind = kinds_.take(book.key, book.facts, estimator_, book.tenant);
    if (kind == book.kind) {
      kinds_.give_back(kind, governor_);
      continue;
    }
    const bool waits = book.waits;
    stop_waiting(job, book);
    kinds_.give_back(book.kind, governor_);
    book.kind = kind;
    book.waits = waits;
    if (waits) enter_governor(job, book);
  }
}

}  // namespace plimsoll::policy
