#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/result.h"
#include "kernel/cgroup/group.h"
#include "kernel/cgroup/subtree.h"

namespace plimsoll::cgroup {

// Goes through a group in every hierarchy and what is below it, parents first, one directory at a
// step: a job may make its tree as wide as it likes, and the loop has others to serve. Groups that
// vanish meanwhile are passed over.
class GroupWalk {
 public:
  // So many steps are to be taken without a break: each opens, lists or leaves one directory, which
  // takes some ten microseconds with what is done there.
  static constexpr std::size_t kSteps = 64;

  enum class Step : std::uint8_t {
    entered,     // here() is another directory of part()
    passed,      // here() means nothing
    part_ended,  // all of the last part was seen
    ended,
  };

  // `group` must outlive this.
  explicit GroupWalk(const Group& group) : group_(group) {}
  GroupWalk(const GroupWalk&) = delete;
  GroupWalk& operator=(const GroupWalk&) = delete;
  ~GroupWalk() = default;

  Step next();
  // After its own directory was entered: nothing below it is.
  void pass_over_part() { is_passed_over_ = true; }

  [[nodiscard]] const Group::Part& part() const { return group_.parts()[part_]; }
  [[nodiscard]] const Directory& here() const { return *here_; }
  // The first thing that kept a directory from being entered or listed, if there was any.
  [[nodiscard]] const Result<void>& trouble() const { return trouble_; }

 private:
  Step end_part();

  const Group& group_;
  std::size_t part_ = 0;
  const Directory* here_ = nullptr;  // null: the part has not begun
  std::optional<SubtreeWalk> below_;
  bool is_passed_over_ = false;
  Result<void> trouble_{};
};

}  // namespace plimsoll::cgroup
