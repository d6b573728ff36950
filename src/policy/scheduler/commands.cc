#include <algorithm>

#include "policy/scheduler/scheduler.h"

// Jobs that wait for commands that they have started.
namespace plimsoll::policy {
namespace {

// Of what it was believed to come to, the commands are the most: it is no more than it shows.
Estimate as_it_stands(const Estimate& estimate, const LiveProfile& seen) {
  Estimate now = estimate;
  now.peak = {.mean = to_double(seen.used()), .spread = 0};
  now.ahead.fill(now.peak);
  now.swing.fill(0);
  now.ceiling.reset();
  now.cores = {.mean = seen.cores_lately(), .spread = 0};
  return now;
}

}  // namespace

void Scheduler::tell_estimate(const JobRecord& job) {
  const RunningAttempt& attempt = *job.attempt;
  const bool waits = attempt.waits_until.has_value();
  governor_.expect(job.ready,
                   waits ? as_it_stands(attempt.estimate, attempt.live_profile) : attempt.estimate,
                   now());
}

// Its job may have ended by now.
void Scheduler::command_begins(JobRecord& command, JobId of) {
  command.ready.is_command = true;
  const auto found = jobs_.find(of);
  if (found == jobs_.end() || found->second.attempt == nullptr) return;
  RunningAttempt& attempt = *found->second.attempt;
  command.part_of = CommandOf{.job = of, .attempt = attempt.number};
  ++attempt.commands;
  if (!attempt.waits_until) {
    waits_.push_back(of);
    if (const auto next = caps_.lend(found->second.capped_as, of)) arriving_.push_back(*next);
  }
  attempt.waits_until = now() + kBetweenCommands;
  if (attempt.is_dying) return;
  governor_.wait_for_commands(found->second.ready, now());
  tell_estimate(found->second);
}

void Scheduler::command_ended(const CommandOf& of) {
  const auto found = jobs_.find(of.job);
  if (found == jobs_.end() || found->second.attempt == nullptr) return;
  RunningAttempt& attempt = *found->second.attempt;
  if (attempt.number != of.attempt) return;
  --attempt.commands;
  attempt.waits_until = now() + kBetweenCommands;
}

void Scheduler::end_waits() {
  std::erase_if(waits_, [this](JobId job) {
    const auto found = jobs_.find(job);
    if (found == jobs_.end() || found->second.attempt == nullptr) return true;
    RunningAttempt& attempt = *found->second.attempt;
    if (!attempt.waits_until) return true;  // it is another attempt
    if (attempt.commands > 0 || now() < *attempt.waits_until) return false;
    attempt.waits_until.reset();
    caps_.take_back(found->second.capped_as, job);
    governor_.go_on(found->second.ready);
    tell_estimate(found->second);
    return true;
  });
}

}  // namespace plimsoll::policy
