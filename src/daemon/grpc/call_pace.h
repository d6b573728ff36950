#pragma once

#include <algorithm>
#include <map>

#include "base/units.h"
#include "policy/job/tenant.h"

namespace plimsoll::daemon {

// How much of the loop's time goes into the long calls of one user while others call too: a tenth,
// so that a few who send the largest commands that there may be leave it to those who send small
// ones. Of short calls, only their number is bounded: so many a second as keep the threads of gRPC
// busy for about a tenth of a CPU. Whoever stays within that is not delayed, nor is one who is
// alone, nor the host.
//
// Pure: values and `now` in, instants out. Not for several threads at once.
class CallPace {
 public:
  static constexpr int kPart = 10;  // one part in so many
  // So much of each call is not counted.
  static constexpr Duration kShort = std::chrono::milliseconds(1);
  // However short, a call counts as so much: gRPC takes some 0.2 ms of a CPU for it. The
  // daemon starts fewer than 200 jobs a second on two cores, each of which takes one call or two.
  static constexpr Duration kEach = std::chrono::milliseconds(2);
  // So much may be spent ahead.
  static constexpr Duration kAhead = std::chrono::milliseconds(100);
  // What the loop does for a job later, which is copied to the guardian, described and reported,
  // takes so many times as long as the call that brought it, with that. Measured with commands of
  // 249,000 words: 12 ms of 35.
  static constexpr int kWholeWay = 3;
  // What comes of a message beside the loop takes so many times as long as it took a thread of gRPC
  // to read it: that, the guardian takes it apart, and the kernel copies the words when the command
  // is executed. Measured with the same: 2.5 ms of 30.
  static constexpr int kReading = 12;
  // A user counts as one who calls too for so long after a call.
  static constexpr Duration kPresent = std::chrono::seconds(1);

  void came(policy::Tenant user, Instant now);
  // This user has made a call, which does not count what comes on its stream afterwards.
  void made(policy::Tenant user, Instant now);
  // A call of this user, or a message on its stream, has taken so much CPU time.
  void spent(policy::Tenant user, Duration cost, Instant now);
  // When the next call of this user may run; `now` at the earliest.
  [[nodiscard]] Instant next(policy::Tenant user, Instant now) const;

 private:
  void add(policy::Tenant user, Duration time, Instant now);
  [[nodiscard]] bool is_alone(policy::Tenant user, Instant now) const;

  std::map<policy::Tenant, Instant> came_;   // when last; not longer than kPresent ago
  std::map<policy::Tenant, Instant> until_;  // until when what was spent counts
};

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
