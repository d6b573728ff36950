#include "policy/governor/admission_context.h"

#include <algorithm>
#include <map>

#include "policy/governor/writing.h"
#include "policy/job/words.h"

namespace plimsoll::policy {
namespace {

void count(Shown& shown, const Member& member) {
  ++shown.running;
  if (!member.settled) ++shown.unsettled;
  shown.ran_seconds += to_seconds(member.sample.ran);
  shown.peak_bytes = std::max(shown.peak_bytes, to_double(member.sample.peak));
  if (member.sample.written && has_shown_writing(member)) {
    const double to_write = to_double(*member.sample.written) + left_to_write(member);
    shown.to_write = std::max(shown.to_write.value_or(0), to_write);
  }
  if (!member.io.need()) return;
  auto io = io_need(member.sample.io_wait, member.sample.io, member.sample.ran);
  if (!io || (shown.io && shown.io->waited >= io->waited)) return;
  io->bytes_per_second = member.io.most_moved();  // beside fewer
  shown.io = io;
}

// An estimate is taken as of now where it is younger than this share of what the attempt has run:
// what happens to it in so short a time is nothing beside what has.
constexpr double kAgeCounts = 1.0 / 16;

Duration age_of(const Member& member, Instant now) {
  const Duration age = now - member.estimated_at;
  return to_seconds(age) < to_seconds(member.sample.ran) * kAgeCounts ? Duration{} : age;
}

// Cores that members are expected to use who have started so lately that...
struct Fresh {
  double unseen = 0;      // ...the machine's figures hardly show them yet (kCoresShown)
  double half_shown = 0;  // ...or not in full (kCoresShownInFull); those as well
};

// A figure that is smoothed over a second is within a twentieth after three.
constexpr Duration kCoresShownInFull = 3 * kCoresShown;

void look_at_cores(Surroundings& around, const Processors& processors, const Fresh& fresh) {
  around.cores_of_others = processors.others();
  if (!processors.busy()) return;
  const double most = around.cores * kBusyShare;
  if (*processors.busy() + fresh.unseen < most) around.cores_fill = kCoresFillIdle;
  around.cores_idle = most - *processors.busy() - fresh.half_shown;
}

Tenancy tenancy_of(const RunningSet& running_set, const GovernorConfig& config, double line,
                   std::size_t tenants, const Waiting& waiting, Instant now) {
  Tenancy tenancy({.line = line, .cores = config.cores, .places = config.jobs_max}, tenants);
  std::map<Tenant, double> unseen;  // cores that are expected to be used, and not looked at yet
  for (const Member* member : running_set.members()) {
    tenancy.add(*member);
    const bool is_unseen = member->seen == member->started && now - member->started >= kSettled;
    if (is_unseen) unseen[member->ready.tenant] += member->estimate.cores.mean;
  }
  for (const auto& [tenant, order] : waiting.orders()) {
    tenancy.used_lately(tenant, running_set.recent_use().cores(tenant, now) + unseen[tenant]);
  }
  return tenancy;
}

// What runs, as one sees it whose own share is not used up.
void look_for_others(AdmissionContext& admission_context, const RunningSet& running_set,
                     const Hindsight& hindsight, Instant now) {
  admission_context.yielding.widen(hindsight.factors());
  admission_context.yielding.add_constant(running_set.unaccounted());
  for (const Member* one : running_set.members()) {
    const Member& member = *one;
    if (member.state == MemberState::dying) {
      admission_context.yielding.add_constant(member.used());
      continue;
    }
    const Duration age = member.state == MemberState::frozen ? Duration{} : age_of(member, now);
    const Demand demand = demand_of(member.estimate, age);
    admission_context.yielding.add(admission_context.tenancy.for_others(member, demand, now),
                                   is_known(member.estimate));
  }
}

}  // namespace

AdmissionContext admission_context(const RunningSet& running_set, const GovernorConfig& config,
                                   const MemoryResponse::Limits& limits, double margin,
                                   const Processors& processors, const Hindsight& hindsight,
                                   Instant now, std::size_t tenants, Waiting& waiting) {
  AdmissionContext admission_context{
      .tenancy = tenancy_of(running_set, config, limits.limit, tenants, waiting, now)};
  Surroundings& around = admission_context.around;
  around.line = limits.limit;
  around.margin = limits.line * margin;
  around.z = doubt_covered(config);
  around.used = running_set.used();
  around.cores = config.cores;
  around.running = running_set.size();
  around.small = running_set.small();
  around.demand_forecast.widen(hindsight.factors());
  admission_context.moving.widen(hindsight.factors());
  const double of_no_member = running_set.unaccounted() - running_set.begun();
  around.demand_forecast.add_constant(of_no_member);
  admission_context.moving.add_constant(of_no_member);
  std::map<Kind, Shown> kinds;
  DemandForecast going;
  Fresh fresh;
  for (const Member* one : running_set.members()) {
    const Member& member = *one;
    count(kinds[member.ready.kind], member);
    const bool waits = member.waits_for_commands && member.state != MemberState::dying;
    if (waits) ++around.waiting_for_commands;
    if (member.ready.lost > kEvictionsMax) {
      admission_context.alone = AdmissionContext::Alone{
          .tenant = member.ready.tenant, .since = member.started, .waits_for_commands = waits};
    }
    if (member.has_right_of_way() && !waits) around.right_of_way_taken = true;
    if (member.state == MemberState::dying) {
      around.demand_forecast.add_constant(member.used());
      admission_context.moving.add_constant(member.used());
      continue;
    }
    around.claimed += to_double(member.sample.claimed.value_or(Bytes{}));
    const bool known = is_known(member.estimate);
    if (member.state == MemberState::frozen) {
      const Demand demand = demand_of(member.estimate);
      around.demand_forecast.add(demand, known);
      admission_context.moving.add_constant(member.used());
      continue;
    }
    const Demand demand = demand_of(member.estimate, age_of(member, now));
    around.demand_forecast.add(demand, known);
    admission_context.moving.add(demand, known);
    going.add(demand, known);
    around.cores_predicted += member.estimate.cores.mean;
    const Duration age = now - member.started;
    if (age < kCoresShown) fresh.unseen += member.estimate.cores.mean;
    if (age < kCoresShownInFull) fresh.half_shown += member.estimate.cores.mean;
    if (member.is_unsettled()) ++around.unsettled;
  }
  look_at_cores(around, processors, fresh);
  if (admission_context.tenancy.is_shared())
    look_for_others(admission_context, running_set, hindsight, now);
  for (std::size_t i = 0; i < kHorizonCount; ++i) admission_context.going[i] = going.sum(i);
  if (const Member* keel = running_set.keel()) {
    const Belief& peak = keel->estimate.peak;
    around.keel_peak = peak.mean + kDoubtRightOfWay * peak.spread;
  }
  for (const auto& [kind, shown] : kinds) waiting.show(kind, shown);
  return admission_context;
}

}  // namespace plimsoll::policy
