#include <utility>

#include "govern/step.h"
#include "govern/steps.h"
#include "supervisor/wall_clock.h"

// Steps that run without a group, and become others when they stay or grow.
namespace plimsoll::govern {

std::optional<Bytes> Steps::small_peak(const policy::JobSpec& spec) const {
  const policy::Scheduler& scheduler = scheduler_.scheduler();
  const auto peak = scheduler.known_small(spec);
  return peak && small_.has_room(*peak, scheduler.line()) ? peak : std::nullopt;
}

void Steps::on_small_ended(JobId small) {
  small_execs_.erase(small);
  tree_.ended(small);
}

void Steps::on_grown(supervisor::SmallProcess small) {
  --counts_.small;
  const Exec exec = std::move(small_execs_.extract(small.id).mapped());
  auto step = step_of_exec(small.id, exec, std::move(small.pidfd));
  step->queued = supervisor::wall_now();
  place(std::move(step), nullptr);
}

}  // namespace plimsoll::govern
