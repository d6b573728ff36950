#include "daemon/grpc/call_pace.h"

#include <algorithm>

namespace plimsoll::daemon {

void CallPace::came(policy::Tenant user, Instant now) {
  const auto [known, is_new] = came_.insert_or_assign(user, now);
  if (!is_new) return;
  std::erase_if(came_, [now](const auto& one) { return one.second + kPresent < now; });
  std::erase_if(until_, [now](const auto& one) { return one.second <= now; });
}

void CallPace::made(policy::Tenant user, Instant now) { add(user, kEach, now); }

void CallPace::spent(policy::Tenant user, Duration cost, Instant now) {
  if (cost > kShort) add(user, (cost - kShort) * (kPart * kWholeWay), now);
}

void CallPace::add(policy::Tenant user, Duration time, Instant now) {
  came_[user] = now;  // also one whose calls have waited for long
  if (user == policy::kHost) return;
  Instant& until = until_.try_emplace(user, now).first->second;
  until = std::max(until, now) + time;
  // What was spent while nobody else was there is not paid for when somebody comes.
  if (is_alone(user, now)) until = std::min(until, now + kAhead);
}

Instant CallPace::next(policy::Tenant user, Instant now) const {
  const auto spent = until_.find(user);
  if (spent == until_.end() || is_alone(user, now)) return now;
  return std::max(now, spent->second - kAhead);
}

bool CallPace::is_alone(policy::Tenant user, Instant now) const {
  return std::none_of(came_.begin(), came_.end(), [&](const auto& one) {
    return one.first != user && one.second + kPresent >= now;
  });
}

}  // namespace plimsoll::daemon
