#pragma once

#include <algorithm>
#include <cstdint>
#include <map>

#include "base/units.h"

namespace plimsoll::supervisor {

// How many connections of one user are taken over: each costs the loop far more than the client
// that makes it and lets it go again. Root's are not counted.
//
// Pure: values and `now` in. Of the loop's thread.
class ConnectionPace {
 public:
  static constexpr double kPerSecond = 200;  // some hundredths of a core
  static constexpr double kAtOnce = 500;     // who has not come for a while

  // One has come; false: it is to be turned away.
  [[nodiscard]] bool may_come(std::uint32_t uid, Instant now) {
    if (uid == 0) return true;
    const auto [place, is_new] = users_.try_emplace(uid, User{.left = kAtOnce, .at = now});
    if (is_new) forget(now);
    User& user = users_.at(uid);
    user = {.left = left(user, now), .at = now};
    if (user.left < 1) return false;
    user.left -= 1;
    return true;
  }

  [[nodiscard]] std::size_t known() const { return users_.size(); }

 private:
  struct User {
    double left = 0;  // as of `at`
    Instant at{};
  };

  static double left(const User& user, Instant now) {
    return std::min(kAtOnce, user.left + to_seconds(now - user.at) * kPerSecond);
  }
  // Who is as one who has never come.
  void forget(Instant now) {
    std::erase_if(users_, [now](const auto& known) {
      return known.second.at < now && left(known.second, now) >= kAtOnce;
    });
  }

  std::map<std::uint32_t, User> users_;
};

}  // namespace plimsoll::supervisor
