#include "policy/governor/admission.h"

#include <algorithm>

#include "policy/governor/crowding.h"
#include "policy/governor/processors.h"
#include "policy/job/words.h"

namespace plimsoll::policy {

double doubt_covered(const GovernorConfig& config) {
  if (config.may_pause) return kDoubtPause;
  return config.may_evict ? kDoubtEvict : kDoubtFail;
}

bool has_idle_cores(const Surroundings& around) {
  return around.cores_predicted < around.cores * kCoresTaken || around.cores_idle.value_or(0) > 0;
}

bool fills_cores(const Surroundings& around, const Estimate& candidate) {
  return is_known(candidate) && candidate.cores.mean >= around.cores * kCoresWide &&
         around.cores_predicted + candidate.cores.mean <= around.cores;
}

namespace {

// What one more job must fit below, and with how much doubt covered.
struct Bar {
  double line = 0;    // with that doubt
  double margin = 0;  // below the line, without
  double z = 0;
};

bool is_light(const Surroundings& around, const Estimate& candidate) {
  const double equal_share = around.cores / static_cast<double>(around.running + 1);
  return is_known(candidate) && candidate.cores.mean <= equal_share * kCoresLight &&
         candidate.cores.mean < around.cores * kCoresWide;
}

bool gains_little(const Surroundings& around, const Estimate& candidate, Patience patience) {
  return patience == Patience::left && around.cores_predicted >= around.cores * kCoresTaken &&
         !is_light(around, candidate);
}

Bar bar_of(const Surroundings& around, const Estimate& candidate, Patience patience) {
  if (!gains_little(around, candidate, patience)) {
    return {.line = around.line, .margin = around.margin, .z = around.z};
  }
  return {.line = (around.line - around.margin) * kSpareLine,
          .margin = 0,
          .z = std::max(around.z, kDoubtSpare)};
}

std::optional<std::size_t> misfit(const Surroundings& around, const Estimate& candidate,
                                  Patience patience) {
  const Demand demand = demand_of(candidate);
  const bool known = is_known(candidate);
  const Bar bar = bar_of(around, candidate, patience);
  for (std::size_t i = 0; i < kHorizonCount; ++i) {
    if (demand.mean[i] + demand.spread[i] < around.line * kNegligible) continue;
    if (around.demand_forecast.level_with(i, bar.z, demand, known) > bar.line ||
        around.demand_forecast.level_with(i, 0, demand, known) > bar.line - bar.margin) {
      return i;
    }
  }
  return std::nullopt;
}

Numbers numbers_of(const Surroundings& around, const Estimate& estimate, std::size_t horizon) {
  return {{"line_bytes", around.line},
          {"used_bytes", around.used},
          {"horizon_s", to_seconds(kHorizons[horizon])},
          {"others_then_bytes", around.demand_forecast.level(horizon, around.z)},
          {"with_it_bytes", around.demand_forecast.level_with(
                                horizon, around.z, demand_of(estimate), is_known(estimate))},
          {"estimate_bytes", estimate.peak.mean},
          {"spread_bytes", estimate.peak.spread},
          {"attempts_known", static_cast<double>(estimate.attempts_known)},
          {"cores", around.cores},
          {"cores_predicted", around.cores_predicted},
          {"cores_estimate", estimate.cores.mean},
          {"running", static_cast<double>(around.running)}};
}

// The horizon at which least is left.
std::size_t tightest(const Surroundings& around, const Estimate& estimate) {
  const Demand demand = demand_of(estimate);
  std::size_t at = 0;
  double most = 0;
  for (std::size_t i = 0; i < kHorizonCount; ++i) {
    if (demand.mean[i] + demand.spread[i] < around.line * kNegligible) continue;
    const double level = around.demand_forecast.level_with(i, around.z, demand, is_known(estimate));
    if (level > most) {
      most = level;
      at = i;
    }
  }
  return at;
}

// For want of what jobs can share: with too little of it all of them are slower, none is lost.
std::optional<HoldCause> refuse_for_speed(const Surroundings& around, const Estimate& candidate) {
  if (is_held_for_io(around.io, candidate)) return HoldCause::disk;
  if (around.frozen_for_cores > 0 && candidate.cores.mean >= kComputes) return HoldCause::cores;
  const double fill = candidate.cores.mean < kCoresSmall ? kCoresFillSmall : around.cores_fill;
  if (around.cores_predicted >= around.cores * fill) return HoldCause::cores;
  return std::nullopt;
}

// Of one that was never seen to need so much it is not known before it has tried; but where less is
// left than every run is granted, it would only be stopped.
bool is_left_too_little(const Surroundings& around, const Ready& job, const Estimate& candidate) {
  if (!around.left_by_others) return false;
  double needed = candidate.peak.mean;
  if (!is_known(candidate) && job.lost == 0) needed = std::min(needed, around.line);
  return needed > *around.left_by_others;
}

bool is_unsettled_full(const Surroundings& around) {
  return around.unsettled + around.unsettled_elsewhere >= around.unsettled_max;
}

// Beside nothing that counts: only other runs are in its way.
std::optional<Refused> refuse_first(const Surroundings& around, const Ready& job,
                                    const Estimate& candidate) {
  if (is_left_too_little(around, job, candidate)) return Refused{.why = HoldCause::memory};
  if (around.unsettled_elsewhere > 0 && !is_known(candidate) && is_unsettled_full(around)) {
    return Refused{.why = HoldCause::pace};
  }
  return std::nullopt;
}

std::string just_started(const Surroundings& around) {
  const std::size_t jobs = around.unsettled + around.unsettled_elsewhere;
  const std::string where = around.unsettled_elsewhere > 0 ? ", here and in other runs," : "";
  return jobs == 1 ? "the job just started" + where + " needs"
                   : "the " + std::to_string(jobs) + " jobs just started" + where + " need";
}

// Why it waits for memory, and by which numbers.
void explain_memory(const Surroundings& around, const Estimate& estimate, const Refused& refused,
                    Holding& holding) {
  if (around.taken > 0) {
    holding.numbers.emplace_back("taken_by_others_bytes", around.taken);
  }
  if (is_empty(around) && around.taken > 0) {
    holding.reason = "waits for other runs to tell what they need: they may be about to use " +
                     words::bytes(around.taken) + " of " + words::bytes(around.line);
    return;
  }
  if (is_empty(around) && around.left_by_others) {
    holding.reason = "waits for memory: it needs " + words::bytes(estimate.peak.mean) +
                     ", and other runs leave only " + words::bytes(*around.left_by_others);
    holding.numbers.emplace_back("left_by_others_bytes", *around.left_by_others);
    return;
  }
  holding.reason = "waits for memory: it needs " + words::bytes(estimate.peak.mean) +
                   ", and the running jobs are expected to use " +
                   words::bytes(around.demand_forecast.level(refused.horizon, around.z)) + " of " +
                   words::bytes(around.line) + " " + words::ahead(kHorizons[refused.horizon]);
  if (around.taken > 0) {
    holding.reason += "; of that, other runs may be about to use " + words::bytes(around.taken);
  }
  if (around.told > 0) {
    holding.reason += "; of that, runs of other users report " + words::bytes(around.told);
    holding.numbers.emplace_back("told_by_others_bytes", around.told);
  }
  if (refused.for_spare) {
    holding.reason +=
        "; while all cores are busy, " + words::percent(1 - kSpareLine) + " is kept free";
  }
}

}  // namespace

std::optional<Refused> refuse(const Surroundings& around, const Ready& job,
                              const Estimate& candidate, const Shown& shown,
                              std::size_t of_kind_max, Patience patience) {
  if (around.running == 0 && around.taken <= 0) return refuse_first(around, job, candidate);
  if (job.lost >= kEvictionsMax && !is_empty(around)) {
    const double peak = candidate.peak.mean + kDoubtRightOfWay * candidate.peak.spread;
    if (job.lost > kEvictionsMax || around.right_of_way_taken ||
        peak + around.keel_peak > around.line - around.margin) {
      return Refused{.why = HoldCause::alone};
    }
  }
  if (patience == Patience::left) {
    if (const auto busy = refuse_for_speed(around, candidate)) return Refused{.why = *busy};
  }
  // Who is small in memory may write as much as others.
  const auto disk = refuse_for_space(around.disks, candidate);
  if (disk && around.running > 0) return Refused{.why = HoldCause::space, .disk = *disk};
  if (is_empty(around) && around.taken <= 0) return refuse_first(around, job, candidate);
  if (const auto horizon = misfit(around, candidate, patience)) {
    return Refused{.why = HoldCause::memory,
                   .horizon = *horizon,
                   .for_spare = gains_little(around, candidate, patience)};
  }
  if (patience == Patience::left && !is_known(candidate) &&
      (is_unsettled_full(around) || shown.unsettled >= of_kind_max)) {
    return Refused{.why = HoldCause::pace};
  }
  return std::nullopt;
}

void count_in(Surroundings& around, const Estimate& admitted) {
  around.demand_forecast.add(demand_of(admitted), is_known(admitted));
  around.cores_predicted += admitted.cores.mean;
  if (around.cores_idle) *around.cores_idle -= admitted.cores.mean;
  ++around.running;
  if (!is_known(admitted)) ++around.unsettled;
  count_in(around.disks, admitted);
  count_in(around.io, admitted);
}

Decision admission_of(const Surroundings& around, JobId job, const Estimate& estimate) {
  const std::size_t horizon = tightest(around, estimate);
  Numbers numbers = numbers_of(around, estimate, horizon);
  std::string reason;
  if (around.running == 0) {
    reason = "nothing else is running";
  } else if (is_empty(around)) {
    reason = "only small jobs are running";
  } else {
    reason = "it fits: at most " + words::bytes(numbers[4].second) + " of " +
             words::bytes(around.line) + " are expected to be in use with it";
  }
  if (const auto disk = short_of_space(around.disks, estimate)) {
    reason += ", though the space is short: " + space_state(around.disks[*disk], estimate);
  }
  return {.action = Admit{job}, .reason = std::move(reason), .numbers = std::move(numbers)};
}

Decision admission_of_awaited(const Surroundings& around, JobId job, const Estimate& estimate) {
  return {.action = Admit{job},
          .reason = "nothing that runs makes progress, and it may be waiting for this one",
          .numbers = numbers_of(around, estimate, tightest(around, estimate))};
}

Holding holding_of(const Surroundings& around, JobId job, const Estimate& estimate,
                   const Refused& refused) {
  Holding holding{.job = job,
                  .cause = refused.why,
                  .reason = {},
                  .numbers = numbers_of(around, estimate, refused.horizon)};
  switch (refused.why) {
    case HoldCause::memory: explain_memory(around, estimate, refused, holding); break;
    case HoldCause::cores:
      holding.reason = "waits for cores: the running jobs want " +
                       words::decimal(around.cores_predicted) + ", and there are " +
                       words::decimal(around.cores);
      if (around.frozen_for_cores > 0) holding.reason += "; paused jobs go on first";
      if (around.cores_of_others.value_or(0) >= kCoresTold) {
        holding.reason +=
            "; other programs use " + words::decimal(*around.cores_of_others) + " of them";
        holding.numbers.emplace_back("cores_of_others", *around.cores_of_others);
      }
      break;
    case HoldCause::disk:
      holding.reason = io_reason(around.io);
      holding.numbers = io_numbers(around.io);
      break;
    case HoldCause::pace:
      holding.reason = "waits to see how much memory " + just_started(around) +
                       "; jobs of this kind have not run before";
      holding.numbers.emplace_back(
          "unsettled", static_cast<double>(around.unsettled + around.unsettled_elsewhere));
      break;
    case HoldCause::alone:
      holding.reason =
          "waits until nothing else runs: it was evicted too often when other jobs ran";
      break;
    case HoldCause::space: {
      const DiskRoom& room = around.disks[refused.disk];
      holding.reason = space_reason(room, estimate);
      holding.numbers = space_numbers(room, estimate);
      break;
    }
    case HoldCause::places:
    case HoldCause::share:
    case HoldCause::calm:
    case HoldCause::cap: break;  // for no candidate of its own
  }
  return holding;
}

}  // namespace plimsoll::policy
