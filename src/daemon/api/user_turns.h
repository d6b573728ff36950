#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>

namespace plimsoll::daemon {

// Whose turn it is among those who wait for one: users in turn, and of one user his own in turn.
// However many one user has there, another waits for one of them. Pure.
//
// Invariant: `turns_` has every user once who has somebody waiting.
template <class Who>
class UserTurns {
 public:
  // `who` does not wait already.
  void add(std::uint32_t user, Who who) {
    std::deque<Who>& his = waiting_[user];
    if (his.empty()) turns_.push_back(user);
    his.push_back(who);
  }

  // Of one who does not wait: does nothing.
  void remove(std::uint32_t user, Who who) {
    const auto his = waiting_.find(user);
    if (his == waiting_.end()) return;
    std::erase(his->second, who);
    if (!his->second.empty()) return;
    waiting_.erase(his);
    std::erase(turns_, user);
  }

  // Who comes next, and waits no more; nothing: nobody waits, or of no user who `may`.
  template <class May>
  std::optional<Who> next(May may) {
    const auto turn = std::find_if(turns_.begin(), turns_.end(), may);
    if (turn == turns_.end()) return std::nullopt;
    const std::uint32_t user = *turn;
    turns_.erase(turn);
    const auto his = waiting_.find(user);
    const Who who = his->second.front();
    his->second.pop_front();
    if (his->second.empty()) {
      waiting_.erase(his);
    } else {
      turns_.push_back(user);
    }
    return who;
  }

  std::optional<Who> next() {
    return next([](std::uint32_t) { return true; });
  }

  [[nodiscard]] bool is_empty() const { return turns_.empty(); }

 private:
  std::map<std::uint32_t, std::deque<Who>> waiting_;
  std::deque<std::uint32_t> turns_;
};

}  // namespace plimsoll::daemon
