#pragma once

#include <cstdint>

#include "supervisor/borrowed_rights.h"
#include "supervisor/external/external_job.h"

namespace plimsoll::supervisor {

// What a peer may do by itself. A daemon that is root acts for its clients with these rights, so
// that nobody gets done by it what the kernel would refuse him.
class PeerRights {
 public:
  explicit PeerRights(Peer peer) : peer_(std::move(peer)) {}

  // Runs `act` with the peer's rights to files; not at all where these can't be had. Root's are not
  // borrowed, nor one's own: then it runs as it is.
  template <class Act>
  void act(const Act& act) const {
    if (is_trusted()) return act();
    if (const auto rights = borrow()) act();
  }

  // Whose processes it may signal.
  [[nodiscard]] std::uint32_t user() const { return peer_.uid; }

 private:
  [[nodiscard]] bool is_trusted() const;
  [[nodiscard]] Result<BorrowedRights> borrow() const;

  Peer peer_;
};

}  // namespace plimsoll::supervisor
