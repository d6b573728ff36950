#pragma once

#include <signal.h>
#include <sys/types.h>

#include <optional>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"
#include "guardian/child.h"
#include "guardian/spawn_request.h"

namespace plimsoll::guardian {

// How a child came into its v2 group.
enum class Birth : std::uint8_t {
  in_group,  // by clone3(2) with CLONE_INTO_CGROUP
  moved,     // by writing itself into the group; also where there is no v2 group
};

// A child between its birth and its exec.
struct SpawnedChild {
  pid_t pid{};
  Birth birth{};
  UniqueFd pidfd;
  // Delivers one birth byte, then the SpawnFailure if a step failed; end of file after the birth
  // byte alone means that the exec has happened, without it that the child was killed at birth.
  UniqueFd report;
};

// Makes children by clone3(2), straight into their v2 group with CLONE_INTO_CGROUP. Some kernels
// kill such a child at birth when its group, an ancestor or the caller's own group ever received
// cgroup.kill; after one such death every child is forked and writes itself into its group instead.
//
// No other thread of the caller allocates memory or holds locks meanwhile: the child runs ordinary
// code between birth and exec.
class Spawner {
 public:
  // `mask` is the signal mask that children start with. What this process ignores, it ignores from
  // now on.
  explicit Spawner(const sigset_t& mask);

  // What children write to their oom_score_adj, once this process's own was lowered: they inherit
  // it. Nothing: they keep what they inherit. A second call with nothing changes nothing.
  void children_have_oom_score(std::optional<std::string> score) {
    if (score) oom_score_ = std::move(score);
  }

  // Children are as nice as this process is now, whatever it does with its own priority later.
  void children_are_as_nice_as_this();

  // How children are made now.
  [[nodiscard]] ChildSettings settings() const;

  // Does not wait for the exec. The request must live until this returns.
  [[nodiscard]] Result<SpawnedChild> spawn(const ReceivedSpawn& request);

  // Call when a child of this birth has died without its birth byte. True if spawning it once more
  // can help: it was cloned into its group. From then on none will be.
  [[nodiscard]] bool may_try_again(Birth dead);

 private:
  sigset_t mask_;
  sigset_t ignored_;
  std::optional<std::string> oom_score_;
  std::optional<int> nice_;
  bool clone_into_group_ = true;
};

}  // namespace plimsoll::guardian
