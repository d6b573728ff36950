#include "guardian/watchdog.h"

#include <fcntl.h>

#include "kernel/cgroup/freeze.h"
#include "kernel/cgroup/pool_bounds.h"
#include "kernel/cgroup/run_tree.h"

namespace plimsoll::guardian {
namespace {

using cgroup::Controller;
using cgroup::Version;

std::optional<cgroup::Directory> open_pool(const HandOver& tree, const HandOver::Place& place) {
  UniqueFd handle(::fcntl(place.base.get(), F_DUPFD_CLOEXEC, 3));
  if (!handle) return std::nullopt;
  const auto base = cgroup::Directory::adopt(std::move(handle), place.version);
  auto run = base.open_child(tree.name);
  if (!run) return std::nullopt;
  auto pool = run->open_child(cgroup::kPoolName);
  return pool ? std::optional(std::move(*pool)) : std::nullopt;
}

}  // namespace

void Watchdog::watch(const HandOver& tree) {
  if (freezer_) return;
  for (const HandOver::Place& place : tree.places) {
    const bool is_v2 = place.version == Version::v2;
    if (is_v2 || (!freezer_ && place.controllers.has(Controller::freezer))) {
      freezer_ = open_pool(tree, place);
    }
    if (place.controllers.has(Controller::memory)) memory_ = open_pool(tree, place);
  }
}

std::optional<Duration> Watchdog::next_check() const {
  if (!freezer_ || !(holds_ || heartbeat_.is_watched())) return std::nullopt;
  return holds_ ? StallDetector::kHeldLookInterval : StallDetector::kLookInterval;
}

void Watchdog::check(Instant now) {
  if (!freezer_) return;
  if (!heartbeat_.is_watched()) {
    // Nobody wants it any more, or the supervisor has taken over what was held.
    holds_ = false;
    stall_detector_.forget();
    return;
  }
  const bool silent = stall_detector_.look(heartbeat_.beats(), now);
  if (silent && !holds_) stop_pool(now);
  if (!silent && holds_) let_pool_go(now);
}

// The freeze first: what is freed from the throttle before it stands would grow on.
void Watchdog::stop_pool(Instant now) {
  if (!heartbeat_.begin_hold(now)) return;
  [[maybe_unused]] const auto frozen = cgroup::request_freeze(*freezer_);
  if (memory_) [[maybe_unused]]
    const auto lifted = cgroup::lift_throttle(*memory_);
  holds_ = true;
  heartbeat_.hold();
}

void Watchdog::let_pool_go(Instant now) {
  holds_ = false;
  if (!heartbeat_.begin_let_go()) return;
  [[maybe_unused]] const auto thawed = cgroup::thaw(*freezer_);
  heartbeat_.let_go(now);
}

void Watchdog::lift() {
  if (memory_) [[maybe_unused]]
    const auto lifted = cgroup::lift_throttle(*memory_);
}

}  // namespace plimsoll::guardian
