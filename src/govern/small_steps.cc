#include "govern/small_steps.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>

#include "base/file.h"
#include "base/text.h"
#include "kernel/procfs/table.h"

namespace plimsoll::govern {
namespace {

// What it has in memory, pages of files included; nothing if it is gone.
std::optional<Bytes> resident(int pid) {
  const auto text = read_text_at(AT_FDCWD, "/proc/" + std::to_string(pid) + "/statm");
  if (!text) return std::nullopt;
  std::string_view rest = *text;
  take_until(rest, ' ');
  const auto pages = to_u64(take_until(rest, ' '));
  if (!pages) return std::nullopt;
  return Bytes{*pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE))};
}

}  // namespace

bool is_small(const policy::Estimate& estimate) {
  if (estimate.basis != policy::Basis::exact || estimate.attempts_known < kSmallKnownMin) {
    return false;
  }
  const double peak = estimate.peak.mean + estimate.peak.spread;
  const double seconds = estimate.remaining.mean + estimate.remaining.spread;
  return peak <= to_double(kSmallPeak) && seconds <= to_seconds(kSmallRun);
}

SmallSteps::SmallSteps(loop::Loop& loop, SmallStepsObserver& observer)
    : observer_(observer), timer_(loop.timer([this] { look(); })) {}

void SmallSteps::add(SmallStep step) {
  if (steps_.empty()) timer_.set(loop::now() + kLook);
  steps_.push_back(std::move(step));
}

std::optional<SmallStep> SmallSteps::take(JobId step) {
  const auto found = std::find_if(steps_.begin(), steps_.end(),
                                  [step](const SmallStep& each) { return each.id == step; });
  if (found == steps_.end()) return std::nullopt;
  SmallStep taken = std::move(*found);
  steps_.erase(found);
  return taken;
}

void SmallSteps::look() {
  const Instant now = loop::now();
  std::vector<SmallStep> ended, grown;
  std::vector<SmallStep> stay;
  for (SmallStep& step : steps_) {
    if (procfs::has_ended(step.pidfd.get())) {
      ended.push_back(std::move(step));
    } else if (now - step.since >= kStays ||
               resident(step.exec.process.pid).value_or(Bytes{}) >= kGrown) {
      grown.push_back(std::move(step));
    } else {
      stay.push_back(std::move(step));
    }
  }
  steps_ = std::move(stay);
  for (const SmallStep& step : ended) observer_.on_small_ended(step);
  for (SmallStep& step : grown) observer_.on_grown(std::move(step));
  if (!steps_.empty()) timer_.set(now + kLook);
}

}  // namespace plimsoll::govern
