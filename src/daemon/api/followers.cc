#include "daemon/api/followers.h"

#include <string>

namespace plimsoll::daemon {

Result<void> Followers::add(WatcherId watcher, std::uint32_t uid) {
  const auto known = of_user_.find(uid);
  const std::size_t of_user = known == of_user_.end() ? 0 : known->second;
  if (of_user >= kOfUserMax || (uid != 0 && users_.size() >= kFollowersMax)) {
    return fail(std::errc::not_enough_memory,
                "found " + std::to_string(of_user) + " followers of this user and " +
                    std::to_string(users_.size()) + " in all, expected fewer than " +
                    std::to_string(kOfUserMax) + " and " + std::to_string(kFollowersMax) +
                    " besides the first follower of each job");
  }
  users_.emplace(watcher, uid);
  ++of_user_[uid];
  return {};
}

void Followers::remove(WatcherId watcher) {
  const auto found = users_.find(watcher);
  if (found == users_.end()) return;
  const auto user = of_user_.find(found->second);
  if (--user->second == 0) of_user_.erase(user);
  users_.erase(found);
}

}  // namespace plimsoll::daemon
