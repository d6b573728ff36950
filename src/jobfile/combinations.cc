#include "jobfile/combinations.h"

#include <algorithm>

#include "base/check.h"

namespace plimsoll::jobfile {

Result<Combinations> Combinations::of(std::vector<Source> sources) {
  Combinations result;
  for (Source& source : sources) {
    PLIMSOLL_CHECK(source.joining == Joining::crossed || !result.groups_.empty());
    const std::uint64_t length = source.rows.size();
    if (source.joining == Joining::crossed) result.groups_.push_back({{}, length});
    Group& group = result.groups_.back();
    group.length = std::min(group.length, length);
    group.members.push_back(std::move(source.rows));
  }
  const auto& groups = result.groups_;
  const auto empty = [](const Group& group) { return group.length == 0; };
  if (groups.empty() || std::any_of(groups.begin(), groups.end(), empty)) return result;
  result.count_ = 1;
  for (const Group& group : groups) {
    if (__builtin_mul_overflow(result.count_, group.length, &result.count_)) {
      return fail("found more than 2^64 combinations of the sources' values, expected fewer");
    }
  }
  return result;
}

Row Combinations::at(std::uint64_t index) const {
  PLIMSOLL_CHECK(index < count_);
  std::uint64_t period = count_;  // after so many combinations the group begins again
  Row row;
  for (const Group& group : groups_) {
    period /= group.length;
    const std::uint64_t place = index / period % group.length;
    for (const std::vector<Row>& member : group.members) {
      const Row& values = member[place];
      row.insert(row.end(), values.begin(), values.end());
    }
  }
  return row;
}

}  // namespace plimsoll::jobfile
