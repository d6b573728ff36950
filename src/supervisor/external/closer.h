#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "base/unique_fd.h"
#include "policy/job/tenant.h"

namespace plimsoll::supervisor {

// Closes descriptors that clients have sent, and connections on which some may wait unread. To
// close the last of a file waits for whoever made it so: a TCP socket that lingers (SO_LINGER), a
// file system that its user serves (FUSE). So each user's are closed on a thread of their own, one
// after the other, and keep nobody else.
//
// Of one thread. Nothing is waited for: what can't be closed goes with this process.
class Closer {
 public:
  Closer();

  // At once if they are the host's, who has no reason to hold up itself.
  void close(policy::Tenant user, std::vector<UniqueFd> fds);
  void close(policy::Tenant user, UniqueFd fd);

  // Of so many users at once; those of others wait.
  static constexpr std::size_t kThreadsMax = 64;

  // Descriptors that are not closed yet.
  [[nodiscard]] std::size_t waiting() const;

 private:
  class State;
  std::shared_ptr<State> state_;
};

}  // namespace plimsoll::supervisor
