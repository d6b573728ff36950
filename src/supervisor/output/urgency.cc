#include "supervisor/output/urgency.h"

#include <sched.h>

#include <utility>

namespace plimsoll::output {
namespace {

// Where it is not allowed, all stays as it is: slower, not wrong.
void take_policy(int policy) {
  const sched_param parameters{};
  [[maybe_unused]] const int done = ::sched_setscheduler(0, policy, &parameters);
}

}  // namespace

Urgency::Urgency() : policy_(SCHED_BATCH) { take_policy(policy_); }

void Urgency::note(std::uint64_t received, Instant now) {
  const bool is_flood = received - received_ >= kFloodBytes;
  if (!is_flood && now - since_ < kFloodTime) return;
  received_ = received;
  since_ = now;
  const int policy = is_flood ? SCHED_OTHER : SCHED_BATCH;
  if (std::exchange(policy_, policy) != policy) take_policy(policy);
}

}  // namespace plimsoll::output
