#include "policy/admission.h"

#include <algorithm>

#include "policy/words.h"

namespace plimsoll::policy {

double doubt_covered(const GovernorConfig& config) {
  if (config.may_pause) return kDoubtPause;
  return config.may_evict ? kDoubtEvict : kDoubtFail;
}

namespace {

// What one more job must fit below, and with how much doubt covered.
struct Bar {
  double line = 0;
  double z = 0;
  bool is_spare = false;
};

Bar bar_of(const Surroundings& around) {
  if (around.cores_predicted < around.cores * kCoresTaken) {
    return {.line = around.line, .z = around.z};
  }
  return {.line = around.line * kSpareLine, .z = std::max(around.z, kDoubtSpare), .is_spare = true};
}

std::optional<std::size_t> misfit(const Surroundings& around, const Estimate& candidate) {
  const Demand demand = demand_of(candidate);
  const bool known = is_known(candidate);
  const Bar bar = bar_of(around);
  for (std::size_t i = 0; i < kHorizonCount; ++i) {
    if (demand.mean[i] + demand.spread[i] < around.line * kNegligible) continue;
    if (around.outlook.level_with(i, bar.z, demand, known) > bar.line) return i;
  }
  return std::nullopt;
}

Numbers numbers_of(const Surroundings& around, const Estimate& estimate, std::size_t horizon) {
  return {{"line_bytes", around.line},
          {"used_bytes", around.used},
          {"horizon_s", to_seconds(kHorizons[horizon])},
          {"others_then_bytes", around.outlook.level(horizon, around.z)},
          {"with_it_bytes",
           around.outlook.level_with(horizon, around.z, demand_of(estimate), is_known(estimate))},
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
    const double level = around.outlook.level_with(i, around.z, demand, is_known(estimate));
    if (level > most) {
      most = level;
      at = i;
    }
  }
  return at;
}

}  // namespace

std::optional<Refused> refuse(const Surroundings& around, const Ready& job,
                              const Estimate& candidate, const Shown& shown,
                              std::size_t of_kind_max) {
  if (around.running == 0) return std::nullopt;
  if (job.lost >= kEvictionsMax) {
    const double peak = candidate.peak.mean + kDoubtRightOfWay * candidate.peak.spread;
    if (job.lost > kEvictionsMax || around.right_of_way_taken ||
        peak + around.keel_peak > around.line) {
      return Refused{.why = HoldCause::alone};
    }
  }
  if (around.io_full.value_or(0) > kIoStallMax && shown.io_per_second > kIoHeavy) {
    return Refused{.why = HoldCause::disk};
  }
  // Others may keep the machine busy for ever: what is ours by right is not held back for them.
  const bool has_its_share = static_cast<double>(around.running) >= around.cores;
  if (has_its_share && around.runnable.value_or(0) > around.cores * kCoresFill) {
    return Refused{.why = HoldCause::run_queue};
  }
  if (around.cores_predicted >= around.cores * around.cores_fill) {
    return Refused{.why = HoldCause::cores};
  }
  if (const auto horizon = misfit(around, candidate)) {
    return Refused{.why = HoldCause::memory, .horizon = *horizon};
  }
  if (!is_known(candidate) &&
      (around.unsettled >= around.unsettled_max || shown.unsettled >= of_kind_max)) {
    return Refused{.why = HoldCause::pace};
  }
  return std::nullopt;
}

void count_in(Surroundings& around, const Estimate& admitted) {
  around.outlook.add(demand_of(admitted), is_known(admitted));
  around.cores_predicted += admitted.cores.mean;
  if (around.runnable) *around.runnable += admitted.cores.mean;
  ++around.running;
  if (!is_known(admitted)) ++around.unsettled;
}

Ruling admission_of(const Surroundings& around, JobId job, const Estimate& estimate) {
  const std::size_t horizon = tightest(around, estimate);
  Numbers numbers = numbers_of(around, estimate, horizon);
  std::string reason;
  if (around.running == 0) {
    reason = "nothing else runs";
  } else {
    reason = "it fits: at most " + words::bytes(numbers[4].second) + " of " +
             words::bytes(around.line) + " are expected to be in use with it";
  }
  return {.verdict = Admit{job}, .reason = std::move(reason), .numbers = std::move(numbers)};
}

Holding holding_of(const Surroundings& around, JobId job, const Estimate& estimate,
                   const Refused& refused) {
  Holding holding{.job = job,
                  .cause = refused.why,
                  .reason = {},
                  .numbers = numbers_of(around, estimate, refused.horizon)};
  switch (refused.why) {
    case HoldCause::memory:
      holding.reason =
          "waits for memory: " + words::bytes(around.outlook.level(refused.horizon, around.z)) +
          " of " + words::bytes(around.line) + " are spoken for " +
          words::ahead(kHorizons[refused.horizon]) + ", and it needs " +
          words::bytes(estimate.peak.mean);
      if (bar_of(around).is_spare) {
        holding.reason += "; as " + words::decimal(around.cores_predicted) + " of " +
                          words::decimal(around.cores) + " cores are taken, " +
                          words::percent(1 - kSpareLine) + " of the memory are to stay free";
      }
      break;
    case HoldCause::cores:
      holding.reason = "waits for cores: " + words::decimal(around.cores_predicted) + " of " +
                       words::decimal(around.cores) + " are in use or spoken for";
      break;
    case HoldCause::run_queue:
      holding.reason = "waits for cores: " + words::decimal(*around.runnable) +
                       " tasks want to run on " + words::decimal(around.cores);
      holding.numbers.emplace_back("runnable", *around.runnable);
      break;
    case HoldCause::disk:
      holding.reason = "waits for the disk: everybody waited for it in " +
                       words::percent(*around.io_full) + " of the time";
      holding.numbers.emplace_back("io_full", *around.io_full);
      break;
    case HoldCause::pace:
      holding.reason = "waits until what was started has shown its needs: nothing is known of " +
                       std::to_string(around.unsettled) + " jobs of the first seconds";
      holding.numbers.emplace_back("unsettled", static_cast<double>(around.unsettled));
      break;
    case HoldCause::alone:
      holding.reason = "waits until nothing else runs: it was lost too often beside others";
      break;
    case HoldCause::places:
    case HoldCause::calm: break;  // for no candidate of its own
  }
  return holding;
}

}  // namespace plimsoll::policy
