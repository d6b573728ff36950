#include "policy/governor/crowding.h"

#include "policy/job/words.h"

namespace plimsoll::policy {

void Crowding::relieve(RunningSet& running_set, double cores, Instant now,
                       std::vector<Decision>& rulings) {
  const double wanted = running_set.cores_wanted();
  if (wanted <= cores * kCrowded) return crowded_since_.reset();
  if (!crowded_since_) crowded_since_ = now;
  if (now < *crowded_since_ + kCrowdPersists || (last_ && now < *last_ + kCrowdGap)) return;
  const std::size_t going = running_set.size() - running_set.frozen() - running_set.dying();
  if (static_cast<double>(going) <= cores) return;
  const Member* keel = running_set.keel();
  const auto& members = running_set.members();
  for (auto youngest = members.rbegin(); youngest != members.rend(); ++youngest) {
    Member& member = **youngest;
    const bool may = member.state == MemberState::running && &member != keel &&
                     !member.has_right_of_way() && now >= member.calm_from;
    if (!may || member.estimate.cores.mean < kComputes) continue;
    const double since = to_seconds(now - *crowded_since_);
    last_ = now;
    if (!running_set.hold(member, now)) return;
    member.for_cores = true;
    rulings.push_back({.action = Freeze{member.ready.job},
                       .reason = "the running jobs want " + words::decimal(wanted) +
                                 " cores, and there are " + words::decimal(cores) +
                                 "; it started last",
                       .numbers = {{"cores_wanted", wanted},
                                   {"cores", cores},
                                   {"crowded_for_s", since},
                                   {"cores_estimate", member.estimate.cores.mean},
                                   {"running", static_cast<double>(going)}}});
    return;
  }
}

bool Crowding::has_room(const Member& member, double cores, double wanted) {
  return wanted + member.estimate.cores.mean <= cores * kRoomy;
}

}  // namespace plimsoll::policy
