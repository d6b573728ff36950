#pragma once

#include <cstdint>

#include "policy/job/job.h"
#include "policy/job/tenant.h"

namespace plimsoll::policy {

// Waiting jobs of one tenant that are expected to behave alike share one estimate, and so one
// number. Chosen by the caller.
enum class Kind : std::uint32_t {};

// A job that could run now.
struct Ready {
  JobId job{};
  Kind kind{};
  int priority = 0;  // higher starts earlier
  bool restartable = true;
  unsigned lost = 0;  // attempts that were evicted or lost to the machine
  Tenant tenant = kHost;
};

// A job that was evicted or lost so often has the right of way from then on, one such job at a
// time: it is neither frozen nor evicted, and starts only where its peak fits beside the keel's.
// Should these two come into conflict all the same, it is evicted once more and then runs alone.
// What is killed every time must come to an end.
inline constexpr unsigned kEvictionsMax = 3;

}  // namespace plimsoll::policy
