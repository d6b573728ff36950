#include "policy/crowding.h"

#include "policy/words.h"

namespace plimsoll::policy {

void Crowding::relieve(Fleet& fleet, double cores, const Processors& processors, Instant now,
                       std::vector<Ruling>& rulings) {
  const auto queue = processors.runnable();
  if (!queue || *queue <= cores * kQueueLong) return long_since_.reset();
  if (!long_since_) long_since_ = now;
  if (now < *long_since_ + kQueuePersists || (last_ && now < *last_ + kQueueGap)) return;
  const std::size_t going = fleet.size() - fleet.frozen() - fleet.dying();
  if (static_cast<double>(going) <= cores) return;
  const auto keel = fleet.keel();
  for (auto youngest = fleet.by_age().rbegin(); youngest != fleet.by_age().rend(); ++youngest) {
    Member& member = fleet.at(youngest->second);
    const bool may = member.state == MemberState::running && member.ready.job != keel &&
                     !member.has_right_of_way() && now >= member.calm_from;
    if (!may || member.estimate.cores.mean < kComputes) continue;
    const double since = to_seconds(now - *long_since_);
    last_ = now;
    if (!fleet.hold(member, now)) return;
    member.for_cores = true;
    rulings.push_back({.verdict = Freeze{member.ready.job},
                       .reason = words::decimal(*queue) + " tasks want to run on " +
                                 words::decimal(cores) + " cores; it has started last",
                       .numbers = {{"runnable", *queue},
                                   {"cores", cores},
                                   {"long_for_s", since},
                                   {"cores_estimate", member.estimate.cores.mean},
                                   {"running", static_cast<double>(going)}}});
    return;
  }
}

bool Crowding::has_room(const Member& member, double cores, std::optional<double> runnable) {
  return runnable.value_or(0) + member.estimate.cores.mean <= cores * kQueueShort;
}

}  // namespace plimsoll::policy
