#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/units.h"
#include "policy/estimator/demand_forecast.h"
#include "policy/estimator/estimate.h"
#include "policy/governor/disk_space.h"
#include "policy/governor/governor_config.h"
#include "policy/governor/io_crowding.h"
#include "policy/governor/member.h"
#include "policy/governor/running_set.h"
#include "policy/governor/waiting.h"
#include "policy/job/decision.h"
#include "policy/job/hold_cause.h"

namespace plimsoll::policy {

// Doubt that is left uncovered by an admission, in standard deviations of the whole: what goes
// wrong then costs a pause, an eviction, or a job.
inline constexpr double kDoubtPause = 1.0;   // once in 6: a pause loses nothing
inline constexpr double kDoubtEvict = 1.65;  // once in 20: an eviction loses work
inline constexpr double kDoubtFail = 2.33;   // once in 100: a failed job loses all
[[nodiscard]] double doubt_covered(const GovernorConfig& config);

// Jobs may want so much more than the machine's cores together: they don't all want at once what
// they use on average, and a short queue costs less than an idle core. It is held against what our
// own jobs want, never against what others use: they may keep the machine busy for ever, and who
// computes beside them gets his share of each core.
inline constexpr double kCoresFill = 1.2;
// While cores are seen idle, predictions up to so much: they were too high.
inline constexpr double kCoresFillIdle = 2.0;
// Cores busy below this share of all are idle enough to say so.
inline constexpr double kBusyShare = 0.95;

// A job that is believed to use less of a core takes it from nobody: it starts unless the jobs want
// so many times the cores.
inline constexpr double kCoresSmall = 0.1;
inline constexpr double kCoresFillSmall = 4;

// Where so much of the cores is spoken for, one more job fills gaps: it can gain a few percent, and
// an eviction costs more. So it starts only where memory is plenty: below this share of the line,
// with so much doubt covered. (What it costs not to: eager on 16 cores and 64 GiB takes 3 % longer
// than with the best fixed number, and loses 3 % of its work.)
inline constexpr double kCoresTaken = 0.9;
inline constexpr double kSpareLine = 0.7;
inline constexpr double kDoubtSpare = 2.0;  // once in 44
// But not of whom this part of an equal share of the cores is enough, and who is not wide: full
// cores hardly slow it, and it hardly slows others.
inline constexpr double kCoresLight = 0.25;

// A job that wants so much of the cores is wide; on few cores most jobs are. While it fits into
// those that no running job wants, it starts before jobs that stand before it: later only its like
// could use them, and what does not fit slows all that run, which keep their memory the longer.
// Only of known jobs is it believed.
inline constexpr double kCoresWide = 0.1;

// Adds less than this share of the line at some horizon: nothing there depends on it.
inline constexpr double kNegligible = 0.0005;

// A job with the right of way starts where its peak and the keel's fit with so many standard
// deviations each: neither can be made to give way.
inline constexpr double kDoubtRightOfWay = 3;

// What a start would come into.
struct Surroundings {
  DemandForecast
      demand_forecast;  // of everything that runs, and of the place kept for a reserved job
  double line = 0;      // bytes, as both constraints have it
  double margin = 0;    // of these, to be left free by what is expected; doubt may take it
  double z = kDoubtPause;
  double used = 0;     // bytes
  double taken = 0;    // bytes of the line that other runs are about to use; in the outlook too
  double claimed = 0;  // bytes that clients say they have (JobSample::claimed)
  double told = 0;     // bytes that other users' runs say they have; in the outlook too
  std::optional<double> left_by_others{};  // bytes, as Share has it
  double cores = 1;
  double cores_fill = kCoresFill;
  double cores_predicted = 0;             // that our running jobs want
  std::optional<double> cores_of_others;  // that other programs use
  // Of the machine's, seen idle and not spoken for by who has just started; absent where the host
  // can't tell.
  std::optional<double> cores_idle;
  IoRoom io{};
  std::size_t running = 0;
  std::size_t small = 0;                 // of those, beside which one is as good as alone
  std::size_t waiting_for_commands = 0;  // of those
  bool right_of_way_taken = false;       // by one that runs
  double keel_peak = 0;                  // bytes, at its most
  std::size_t unsettled = 0;             // started without knowledge, their needs not yet shown
  std::size_t unsettled_elsewhere = 0;   // of other runs, as Share has it
  std::size_t unsettled_max = 0;         // of both
  std::size_t frozen_for_cores = 0;      // of the candidate's tenant: they go first
  std::vector<DiskRoom> disks{};         // whose space is known
};

// Whether a candidate would be as good as alone.
[[nodiscard]] inline bool is_empty(const Surroundings& around) {
  return around.running <= around.small;
}

// Whether cores are left over, by what the running jobs want or by what is seen.
[[nodiscard]] bool has_idle_cores(const Surroundings& around);

// Whether a candidate is wide and fits into the cores that no job wants.
[[nodiscard]] bool fills_cores(const Surroundings& around, const Estimate& candidate);

// Why a candidate can't start now.
struct Refused {
  HoldCause why{};
  std::size_t horizon = 0;  // memory: the first at which it does not fit
  bool for_spare = false;   // memory: where it fills gaps, more than usual has to stay free
  std::size_t disk = 0;     // space: the place of its file system among those around
};

// Whether a candidate still has to wait for what it would only be slower without.
enum class Patience : std::uint8_t { left, over };

// Whether one more job may start. A job that nothing runs beside always may, as there is nothing
// else to wait for; but for what other runs are about to use, and where it is known to need more
// than they leave. `of_kind_max`: so many of an unknown
// kind may be in their first seconds. Whose patience is over is refused for memory alone.
[[nodiscard]] std::optional<Refused> refuse(const Surroundings& around, const Ready& job,
                                            const Estimate& candidate, const Shown& shown,
                                            std::size_t of_kind_max, Patience patience);

// Takes a start into account.
void count_in(Surroundings& around, const Estimate& admitted);

// The sentence and the numbers of an admission, and of a refusal.
[[nodiscard]] Decision admission_of(const Surroundings& around, JobId job,
                                    const Estimate& estimate);
// Of one that starts though it is refused, as nothing that runs makes progress without it.
[[nodiscard]] Decision admission_of_awaited(const Surroundings& around, JobId job,
                                            const Estimate& estimate);
[[nodiscard]] Holding holding_of(const Surroundings& around, JobId job, const Estimate& estimate,
                                 const Refused& refused);

}  // namespace plimsoll::policy
