#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "daemon/grpc/status.h"
#include "daemon/runner/file_turn.h"

namespace plimsoll::daemon {

// Work on files that may hang, each in the lane of the directory that it touches: a lane's work is
// done in the order given, one at a time, and what hangs holds up its own lane alone. FileLanes has
// threads for it; tests have directories that hang when they are told to.
class Lanes {
 public:
  // Must refer to nothing that may be gone when it was given up: it is not waited for then.
  using Work = std::function<Status(FileTurn&)>;
  using Done = std::function<void(Status)>;

  // Whether the work is a beginning that may be refused while many lanes hang.
  enum class Step : std::uint8_t { first, further };

  virtual ~Lanes() = default;
  // Does `work`, then `done` on the loop's thread, from within a turn of it. `lane` is the path
  // that is named to people when the work is given up: UNAVAILABLE.
  virtual void submit(const std::string& lane, Work work, Done done, Step step = Step::further) = 0;
};

}  // namespace plimsoll::daemon
