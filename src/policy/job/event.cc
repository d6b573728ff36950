#include "policy/job/event.h"

#include <algorithm>
#include <array>

namespace plimsoll::policy {
namespace {

// In the order of the kinds.
constexpr std::array<std::string_view, kEventKinds> kNames = {
    "queued",  "admitted", "started", "held",   "frozen", "thawed", "reclaimed",
    "evicted", "requeued", "ended",   "failed", "alarm",  "line",
};
static_assert(static_cast<std::size_t>(EventKind::line) + 1 == kEventKinds);

}  // namespace

std::string_view name_of(EventKind kind) { return kNames.at(static_cast<std::size_t>(kind)); }

std::optional<EventKind> event_kind(std::string_view name) {
  const auto found = std::find(kNames.begin(), kNames.end(), name);
  if (found == kNames.end()) return std::nullopt;
  return static_cast<EventKind>(found - kNames.begin());
}

}  // namespace plimsoll::policy
