#pragma once

#include "base/result.h"
#include "cli/progress/notices.h"

namespace plimsoll::cli {

// Whether a run could meet others: by the ledger in which they share the line, and by the socket at
// which it is controlled. What it lacks is told; once, if both are for the same reason.
struct Meeting {
  Result<void> ledger{};
  Result<void> control{};
};
void tell_missed(const Meeting& meeting, Notices& notices);

}  // namespace plimsoll::cli
