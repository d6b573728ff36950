#include "policy/survey.h"

#include <algorithm>
#include <map>

#include "policy/words.h"

namespace plimsoll::policy {
namespace {

void count(Shown& shown, const Member& member) {
  ++shown.running;
  if (!member.settled) ++shown.unsettled;
  shown.ran_seconds += to_seconds(member.sample.ran);
  shown.peak_bytes = std::max(shown.peak_bytes, to_double(member.sample.peak));
  if (member.sample.io && member.sample.ran >= kSettled) {
    shown.io_per_second =
        std::max(shown.io_per_second,
                 static_cast<double>(member.sample.io->count) / to_seconds(member.sample.ran));
  }
}

void look_at_cores(Surroundings& around, const Processors& processors, double fresh) {
  around.io_full = processors.io_full();
  if (processors.runnable()) around.runnable = *processors.runnable() + fresh;
  const bool idle = processors.busy() && *processors.busy() + fresh < around.cores * kBusyShare;
  if (idle) around.cores_fill = kCoresFillIdle;
}

}  // namespace

Survey survey(const Fleet& fleet, const GovernorConfig& config, const Ladder::Limits& limits,
              double margin, const Processors& processors, Instant now, Waiting& waiting) {
  Survey survey;
  Surroundings& around = survey.around;
  around.line = std::max(0.0, limits.limit - limits.line * margin);
  around.z = doubt_covered(config);
  around.used = fleet.used();
  around.cores = config.cores;
  around.running = fleet.size();
  around.outlook.add_constant(fleet.unaccounted());
  survey.moving.add_constant(fleet.unaccounted());
  std::map<Kind, Shown> kinds;
  double fresh = 0;  // cores that the machine's figures don't show yet
  for (const auto& [job, member] : fleet.members()) {
    count(kinds[member.ready.kind], member);
    if (member.ready.lost > kEvictionsMax) survey.one_is_alone = true;
    if (member.has_right_of_way()) around.right_of_way_taken = true;
    if (member.state == MemberState::dying) {
      around.outlook.add_constant(member.used());
      survey.moving.add_constant(member.used());
      continue;
    }
    const bool known = is_known(member.estimate);
    if (member.state == MemberState::frozen) {
      const Demand demand = demand_of(member.estimate);
      around.outlook.add(demand, known);
      survey.moving.add_constant(member.used());
      continue;
    }
    const Demand demand = demand_of(member.estimate, now - member.estimated_at);
    around.outlook.add(demand, known);
    survey.moving.add(demand, known);
    around.cores_predicted += member.estimate.cores.mean;
    if (now - member.started < kCoresShown) fresh += member.estimate.cores.mean;
    if (!known && !member.settled) ++around.unsettled;
  }
  look_at_cores(around, processors, fresh);
  if (const auto keel = fleet.keel()) {
    const Belief& peak = fleet.find(*keel)->estimate.peak;
    around.keel_peak = peak.mean + kDoubtRightOfWay * peak.spread;
  }
  for (const auto& [kind, shown] : kinds) waiting.show(kind, shown);
  return survey;
}

}  // namespace plimsoll::policy
