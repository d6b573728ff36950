#include "supervisor/output/urgency.h"

#include <sched.h>

namespace plimsoll::output {
namespace {

// Where it is not allowed, all stays as it is: slower, not wrong.
void take_policy(int policy) {
  const sched_param parameters{};
  [[maybe_unused]] const int done = ::sched_setscheduler(0, policy, &parameters);
}

}  // namespace

Urgency::Urgency() {
  if (::sched_getscheduler(0) != SCHED_OTHER) return;
  policy_ = SCHED_BATCH;
  take_policy(*policy_);
}

void Urgency::note(std::uint64_t moved, Instant now) {
  const bool is_flood = moved - moved_ >= kFloodBytes;
  if (!is_flood && now - since_ < kFloodTime) return;
  moved_ = moved;
  since_ = now;
  const int policy = is_flood ? SCHED_OTHER : SCHED_BATCH;
  if (!policy_ || *policy_ == policy) return;
  policy_ = policy;
  take_policy(policy);
}

}  // namespace plimsoll::output
