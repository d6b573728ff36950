#pragma once

#include <vector>

#include "policy/governor/disk_tenancy.h"
#include "policy/governor/running_set.h"

namespace plimsoll::policy {

// Who goes on before whom on a file system whose space is short: by how far its tenant is beyond an
// equal part with it, then by start. Made in O(running), right until a member starts, stops or goes
// on.
class SpaceClaims {
 public:
  // One that writes, running or frozen.
  struct Writer {
    Member* member = nullptr;
    // Bytes by which its tenant is beyond an equal part with it and those of his that started
    // before; 0 where there is one tenant.
    double excess = 0;
  };

  // With so many bytes free. Both must outlive this.
  SpaceClaims(const RunningSet& running_set, const DiskFloor& disk, double free);

  // In that order.
  [[nodiscard]] const std::vector<Writer>& writers() const { return writers_; }
  // 0 if it writes nothing.
  [[nodiscard]] double excess_of(const Member& member) const;
  // Whether one that was frozen for space may go on: there is enough, or nobody writes who would
  // go before it.
  [[nodiscard]] bool has_room(const Member& member) const;

 private:
  // What those that are frozen are still to write does not count.
  DiskTenancy tenancy_;
  double spare_;  // bytes that are free above the floor and the cushion
  std::vector<Writer> writers_;
};

}  // namespace plimsoll::policy
