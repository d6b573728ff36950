#include "engine/event.h"

namespace plimsoll::engine {

std::string_view name_of(EventKind kind) {
  switch (kind) {
    case EventKind::queued: return "queued";
    case EventKind::admitted: return "admitted";
    case EventKind::started: return "started";
    case EventKind::held: return "held";
    case EventKind::frozen: return "frozen";
    case EventKind::thawed: return "thawed";
    case EventKind::reclaimed: return "reclaimed";
    case EventKind::evicted: return "evicted";
    case EventKind::requeued: return "requeued";
    case EventKind::ended: return "ended";
    case EventKind::failed: return "failed";
    case EventKind::alarm: return "alarm";
    case EventKind::line: return "line";
  }
  return "unknown";
}

}  // namespace plimsoll::engine
