#include "supervisor/run/lesson.h"

#include <algorithm>

#include "base/loop/loop.h"
#include "policy/scheduler/curve_recorder.h"
#include "store/history/state_dir.h"
#include "store/history/store.h"
#include "supervisor/run/input_sizes.h"
#include "supervisor/wall_clock.h"

namespace plimsoll::supervisor {
namespace {

std::optional<Duration> io_wait_of(const counters::Sample& totals) {
  const auto& pressure = totals.io.pressure;
  return pressure && pressure->some ? std::optional(pressure->some->total) : std::nullopt;
}

}  // namespace

std::optional<policy::Estimate> recall(const std::string& state_dir, const policy::JobSpec& job) {
  auto opened = history::Store::open(history::history_path(state_dir), wall_now(),
                                     history::WhenMissing::leave);
  if (!opened) return std::nullopt;
  const policy::Key key = policy::key_of(job);
  const auto loaded = opened->store.load_tool(key, loop::now() + kRecallMax, &loop::now);
  if (!loaded || loaded->entries.empty()) return std::nullopt;
  policy::Estimator estimator;
  for (const history::Entry& entry : loaded->entries) estimator.learn(entry.attempt_summary);
  const policy::Estimate estimate = estimator.estimate(
      key,
      {.memory_hint = job.memory_hint, .cpu_hint = job.cpu_hint, .input = InputSizes().of(job)});
  const bool is_known =
      estimate.basis == policy::Basis::exact || estimate.basis == policy::Basis::tool;
  return is_known ? std::optional(estimate) : std::nullopt;
}

std::optional<policy::AttemptSummary> lesson_of(const policy::JobSpec& job,
                                                const AttemptResult& result,
                                                std::optional<Bytes> input) {
  if (policy::was_never_executed(result.end)) return std::nullopt;
  const counters::Sample& totals = result.usage.totals;
  policy::CurveRecorder course;
  Bytes peak{};
  for (const counters::Sample& sample : result.usage.samples) {
    if (!sample.memory.used) continue;
    peak = std::max(peak, *sample.memory.used);
    course.add(sample.t - sample.frozen.value_or(Duration{}), *sample.memory.used);
  }
  // The kernel's peak counts clean page cache too: it stands in where nobody had a look.
  const auto stand_in = totals.memory.peak ? totals.memory.peak : totals.memory.sampled_peak;
  if (peak == Bytes{}) peak = stand_in.value_or(Bytes{});
  peak = std::max(peak, totals.memory.used_peak_least.value_or(Bytes{}));
  const auto seen = policy::succeeded(result.end) ? policy::Seen::whole : policy::Seen::at_least;
  // Without cgroups nobody may have seen it: then nothing is known but that it was short.
  const bool is_unseen = peak == Bytes{} && !stand_in;
  const Duration ran = std::max(result.end.wall - result.paused, Duration{});
  policy::AttemptSummary attempt_summary{.key = policy::key_of(job),
                                         .peak = peak,
                                         .peak_seen = is_unseen ? policy::Seen::at_least : seen,
                                         .ran = ran,
                                         .ran_seen = seen,
                                         .cores = {},
                                         .input = input,
                                         .memory_hint = job.memory_hint,
                                         .written = result.end.written,
                                         .io = totals.io.moved(),
                                         .io_wait = io_wait_of(totals),
                                         .curve = course.course()};
  if (totals.cpu.usage && ran > Duration{}) {
    attempt_summary.cores = to_seconds(*totals.cpu.usage) / to_seconds(ran);
  }
  return attempt_summary;
}

}  // namespace plimsoll::supervisor
