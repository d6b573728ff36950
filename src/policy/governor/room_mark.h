#pragma once

#include "base/units.h"

namespace plimsoll::policy {

// When all jobs are looked at together with the pool, far from any bound: each time that a quarter
// of the room is gone since they were last looked at so. Jobs that have long stood still are seldom
// looked at, and who of them has begun to grow is to be known while there is room to stop them.
class RoomMark {
 public:
  static constexpr std::uint64_t kParts = 4;

  // After a look that found so much room: whether the jobs are to be looked at too.
  [[nodiscard]] bool passes(Bytes room) {
    const bool is_passed = room < mark_;
    if (is_passed || room > room_) {
      room_ = room;
      mark_ = room - Bytes{room.count / kParts};
    }
    return is_passed;
  }

 private:
  Bytes room_{};  // at the last such look; more, where there was more since
  Bytes mark_{};
};

}  // namespace plimsoll::policy
