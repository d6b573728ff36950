#include "policy/governor/writing.h"

#include <algorithm>

namespace plimsoll::policy {

double written(const Member& member) { return to_double(member.sample.written.value_or(Bytes{})); }

bool is_quiet(const Member& member) { return member.wrote.doubt(member.sample) == 0; }

bool is_writer(const Member& member) {
  if (member.state == MemberState::dying) return false;
  return std::max(written(member), left_to_write(member)) >= kWritesLeast;
}

std::optional<double> to_write(const Estimate& estimate) {
  if (!estimate.written) return std::nullopt;
  return estimate.written->mean + estimate.written->spread;
}

double left_to_write(const Member& member) {
  if (member.state == MemberState::dying) return 0;
  const double so_far = written(member);
  const double doubt = member.wrote.doubt(member.sample);
  if (const auto whole = to_write(member.estimate)) {
    if (member.estimate.is_written_told) return std::max(0.0, *whole - so_far);
    if (so_far > *whole) return so_far * kBeyondWritten * doubt;
    const double surely = std::max(0.0, member.estimate.written->mean - so_far);
    return surely + (*whole - so_far - surely) * doubt;
  }
  const double again = so_far * doubt;
  return has_shown_writing(member) ? again : std::max(again, member.writes_at_first - so_far);
}

bool has_shown_writing(const Member& member) {
  return member.sample.ran >= kWriteShown || is_quiet(member);
}

}  // namespace plimsoll::policy
