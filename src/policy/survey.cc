#include "policy/survey.h"

#include <algorithm>
#include <map>

#include "policy/words.h"

namespace plimsoll::policy {
namespace {

void count(Shown& shown, const Member& member) {
  ++shown.running;
  shown.ran_seconds += words::seconds(member.sample.ran);
  shown.peak_bytes = std::max(shown.peak_bytes, static_cast<double>(member.sample.peak.count));
  if (member.sample.io && member.sample.ran >= kSettled) {
    shown.io_per_second =
        std::max(shown.io_per_second,
                 static_cast<double>(member.sample.io->count) / words::seconds(member.sample.ran));
  }
}

void look_at_cores(Surroundings& around, const std::optional<MachineSample>& machine) {
  if (!machine) return;
  if (machine->runnable) around.runnable = static_cast<double>(*machine->runnable);
  around.io_full = machine->stall.io_full;
  const bool idle = machine->cores_busy && *machine->cores_busy < around.cores * kBusyShare &&
                    around.runnable.value_or(0) < around.cores;
  if (idle) around.cores_fill = kCoresFillIdle;
}

}  // namespace

Survey survey(const Fleet& fleet, const GovernorConfig& config, const Ladder::Limits& limits,
              const std::optional<MachineSample>& machine, Instant now, Waiting& waiting) {
  Survey survey;
  Surroundings& around = survey.around;
  around.line = limits.limit;
  around.z = doubt_covered(config);
  around.used = fleet.used();
  around.cores = config.cores;
  around.running = fleet.size();
  around.outlook.add_constant(fleet.unaccounted());
  survey.moving.add_constant(fleet.unaccounted());
  std::map<Kind, Shown> kinds;
  for (const auto& [job, member] : fleet.members()) {
    count(kinds[member.ready.kind], member);
    if (member.ready.lost >= kEvictionsMax) survey.one_is_alone = true;
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
    if (!known && !member.settled) ++around.unsettled;
  }
  look_at_cores(around, machine);
  for (const auto& [kind, shown] : kinds) waiting.show(kind, shown);
  return survey;
}

}  // namespace plimsoll::policy
