#pragma once

#include <cstdint>
#include <vector>

#include "policy/governor/governor_config.h"
#include "policy/governor/running_set.h"
#include "policy/governor/tenant_excess.h"

namespace plimsoll::policy {

// Whose death costs least.
struct Victims {
  std::vector<Member*> members;
  double bytes = 0;  // that come back
};

enum class Spare : std::uint8_t {
  nobody,
  right_of_way,  // who has it
  twice_lost,    // also whose last eviction this would be, and who can't be started again
};

// Whether jobs that can't be started again are among the candidates (GovernorConfig::may_lose).
enum class Lose : std::uint8_t { nobody, anybody };

// A job whose kind is known is astray if it uses more than so many times what it was admitted with.
// One of an unknown kind is, if it uses more than that.
inline constexpr double kAstray = 1.125;

// What is wanted of those who go, in bytes.
struct Shortfall {
  double shortage = 0;
  double limit = 0;  // what several tenants share: the line, or what the machine leaves of it
};

// The smallest set of jobs whose memory covers the shortage, or all that may be evicted if that is
// not enough. Of several tenants it is always one of whoever is then furthest beyond his part
// (TenantExcess). Of one tenant: jobs that can't be started again come last of all, and before them
// those whose last eviction it would be. Within each of these: those that are astray (kAstray), the
// furthest first, then those that free most bytes for each second of work lost. Never who waits for
// commands and has not taken the shortage itself since; nor the keel, unless it gives way to other
// tenants, and then after all others of its own.
[[nodiscard]] Victims choose_victims(const RunningSet& running_set, const Member& keel,
                                     const Shortfall& shortfall, Lose lose,
                                     Spare spare = Spare::right_of_way);
// Who goes where no eviction helps, be it the keel: whoever is furthest over what it was admitted
// with, of tenants that are beyond their part if there are any. Who gives back less than `least`
// goes only if all that are not dying are as small. In place of who waits for commands, and is
// spared as above, whoever else is furthest over goes, if it is over by so much or covers the
// shortage.
struct Furthest {
  Member* member;
  Member* spared = nullptr;  // in whose place
};
[[nodiscard]] Furthest furthest_over(const RunningSet& running_set, const Shortfall& shortfall,
                                     double least);
[[nodiscard]] constexpr Lose may_lose(const GovernorConfig& config) {
  return config.may_lose ? Lose::anybody : Lose::nobody;
}

}  // namespace plimsoll::policy
