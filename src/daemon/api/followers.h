#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <unordered_map>

#include "base/result.h"
#include "daemon/api/job_watcher.h"

namespace plimsoll::daemon {

// Those who follow jobs beside the first of each job. Every one may let a MiB of output wait for
// him, so that their number is bounded. Of the loop's thread.
class Followers {
 public:
  // Of one user, and in all; root is taken beyond the latter.
  static constexpr std::size_t kOfUserMax = 100;
  static constexpr std::size_t kFollowersMax = 1000;

  // not_enough_memory: too many follow already.
  Result<void> add(WatcherId watcher, std::uint32_t uid);
  // Of one that is not here: does nothing.
  void remove(WatcherId watcher);

 private:
  std::unordered_map<WatcherId, std::uint32_t> users_;
  std::map<std::uint32_t, std::size_t> of_user_;
};

}  // namespace plimsoll::daemon
