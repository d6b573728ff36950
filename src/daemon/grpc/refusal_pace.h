#pragma once

#include <algorithm>
#include <map>

#include "base/units.h"
#include "policy/job/tenant.h"

namespace plimsoll::daemon {

// How long a call that is refused waits for that answer: twice as long as the last one of its user,
// so that nobody who asks again at once has gRPC read large messages without a pause, only for them
// to be refused. The host's do not wait.
//
// Pure: values and `now` in. Not for several threads at once.
class RefusalPace {
 public:
  static constexpr Duration kFirst = std::chrono::milliseconds(10);
  static constexpr Duration kMax = std::chrono::seconds(1);
  // Who was not refused for so long begins anew.
  static constexpr Duration kForgotten = std::chrono::seconds(3);

  [[nodiscard]] Duration refused(policy::Tenant user, Instant now) {
    if (user == policy::kHost) return {};
    std::erase_if(users_, [now](const auto& known) { return now - known.second.at > kForgotten; });
    User& his = users_[user];
    his = {.wait = std::clamp(2 * his.wait, kFirst, kMax), .at = now};
    return his.wait;
  }

  [[nodiscard]] std::size_t known() const { return users_.size(); }

 private:
  struct User {
    Duration wait{};
    Instant at{};
  };
  std::map<policy::Tenant, User> users_;
};

}  // namespace plimsoll::daemon
