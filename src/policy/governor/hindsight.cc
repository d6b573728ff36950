#include "policy/governor/hindsight.h"

#include <algorithm>

namespace plimsoll::policy {
namespace {

// One step out for a forecast that was passed, one back for one that held: at rest where one in six
// or seven is passed, as one standard deviation says.
constexpr double kWiden = 1.15;
constexpr double kNarrow = 0.975;
constexpr double kWidest = 4;
// Less than this share of the line, together, says nothing about it.
constexpr double kWorthwhile = 0.1;

}  // namespace

void Hindsight::forecast(const RunningSet& running_set, const Forecasts& ahead, double line,
                         Instant now) {
  for (std::size_t horizon = 1; horizon < kJudged; ++horizon) {
    auto& pending = pending_[horizon];
    if (pending || ahead[horizon].mean < line * kWorthwhile) continue;
    pending = Pending{.made = now, .jobs = {}, .sum = ahead[horizon]};
    for (const Member* member : running_set.members()) {
      if (member->state == MemberState::running) pending->jobs.push_back(member->ready.job);
    }
    std::sort(pending->jobs.begin(), pending->jobs.end());
  }
}

void Hindsight::compare(const RunningSet& running_set, double z, Instant now) {
  for (std::size_t horizon = 1; horizon < kJudged; ++horizon) {
    const auto& pending = pending_[horizon];
    if (pending && now >= pending->made + kHorizons[horizon]) judge(horizon, running_set, z, true);
  }
}

void Hindsight::cut_short(const RunningSet& running_set, double z) {
  for (std::size_t horizon = 1; horizon < kJudged; ++horizon) {
    if (pending_[horizon]) judge(horizon, running_set, z, false);
  }
}

void Hindsight::judge(std::size_t horizon, const RunningSet& running_set, double z, bool is_due) {
  const Pending pending = *std::exchange(pending_[horizon], std::nullopt);
  double used = 0;
  bool was_stopped = false;
  // The memory of those that are gone is back.
  for (const Member* member : running_set.members()) {
    const bool is_one =
        std::binary_search(pending.jobs.begin(), pending.jobs.end(), member->ready.job);
    if (!is_one) continue;
    used += member->used();
    was_stopped |= member->state != MemberState::running || member->since > pending.made;
  }
  double& factor = factors_[horizon];
  if (used > pending.sum.mean + z * factor * pending.sum.spread) {
    factor = std::min(factor * kWiden, kWidest);
  } else if (is_due && !was_stopped) {
    factor = std::max(factor * kNarrow, 1.0);
  }
}

}  // namespace plimsoll::policy
