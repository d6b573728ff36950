#include "policy/job/hold_cause.h"

namespace plimsoll::policy {

std::string_view name_of(HoldCause cause) {
  switch (cause) {
    case HoldCause::memory: return "memory";
    case HoldCause::cores: return "cores";
    case HoldCause::disk: return "disk";
    case HoldCause::pace: return "pace";
    case HoldCause::alone: return "alone";
    case HoldCause::places: return "places";
    case HoldCause::share: return "share";
    case HoldCause::calm: return "calm";
    case HoldCause::cap: return "cap";
    case HoldCause::space: return "disk-space";
  }
  return "";
}

}  // namespace plimsoll::policy
