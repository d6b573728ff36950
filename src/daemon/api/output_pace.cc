#include "daemon/api/output_pace.h"

#include <algorithm>

namespace plimsoll::daemon {

Instant OutputPace::spent(std::uint32_t uid, Duration cost, Instant now) {
  std::erase_if(until_, [now](const auto& user) { return user.second <= now; });
  Instant& until = until_.try_emplace(uid, now).first->second;
  const auto parts =
      std::max<std::int64_t>(kOfUser, kOfAll * static_cast<std::int64_t>(until_.size()));
  until += cost * parts;
  return std::max(now, until - kAhead);
}

}  // namespace plimsoll::daemon
