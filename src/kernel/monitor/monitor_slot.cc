#include "kernel/monitor/monitor_slot.h"

namespace plimsoll::monitor {

MonitorSlot::MonitorSlot(std::string name, std::vector<Candidate> candidates, std::string nobody,
                         SlotOwner& owner)
    : candidates_(std::move(candidates)), owner_(owner) {
  status_.name = std::move(name);
  std::string refusals;
  if (take_up_from(0, refusals)) {
    status_.health = "working";
  } else {
    status_.why = std::move(nobody);
    status_.health = "missing" + (refusals.empty() ? "" : ": " + refusals);
  }
}

Duration MonitorSlot::gap_max() const {
  return is_held() ? candidates_[current_].gap_max : kGapMax;
}

std::optional<Alarm> MonitorSlot::observe(const Reading& reading) {
  return is_held() ? monitor_->observe(reading) : std::nullopt;
}

void MonitorSlot::failed(const Error& error) {
  if (broken_) return;
  broken_ = error;
  owner_.repair_soon();
}

Result<void> MonitorSlot::take_up(std::size_t candidate) {
  auto made = candidates_[candidate].make(*this);
  if (!made) return pass(std::move(made));
  monitor_ = std::move(*made);
  current_ = candidate;
  status_.works = true;
  return {};
}

// What refused on the way is part of why, without the system's text: whoever took it up works.
bool MonitorSlot::take_up_from(std::size_t first, std::string& refusals) {
  for (std::size_t i = first; i < candidates_.size(); ++i) {
    auto taken = take_up(i);
    if (taken) {
      status_.why = candidates_[i].why;
      if (!refusals.empty()) status_.why += " (could not " + refusals + ")";
      return true;
    }
    if (!refusals.empty()) refusals += ", could not ";
    refusals += taken.error().what;
  }
  return false;
}

bool MonitorSlot::repair(Instant now) {
  if (!broken_) return false;
  const std::string reason = std::exchange(broken_, std::nullopt)->message();
  monitor_.reset();
  status_.works = false;
  if (!restarted_ || now - *restarted_ >= kRestartGap) {
    restarted_ = now;
    if (take_up(current_)) {
      status_.health = "restarted: " + reason;
      return true;
    }
  }
  std::string refusals;
  if (take_up_from(current_ + 1, refusals)) {
    status_.health = "replaced: " + reason;
  } else {
    status_.health = "failed: " + reason;
  }
  return true;
}

}  // namespace plimsoll::monitor
