#include "kernel/cgroup/group_walk.h"

namespace plimsoll::cgroup {

GroupWalk::Step GroupWalk::next() {
  if (part_ == group_.parts().size()) return Step::ended;
  const Directory& top = part().directory;
  if (here_ == nullptr) {
    here_ = &top;
    return Step::entered;
  }
  if (is_passed_over_) return end_part();
  if (!below_) {
    if (!may_have_children(top)) return end_part();
    below_.emplace(top);
  }
  const SubtreeWalk::Step step = below_->next();
  if (step == SubtreeWalk::Step::ended) return end_part();
  if (step != SubtreeWalk::Step::entered) return Step::passed;
  here_ = &below_->here();
  return Step::entered;
}

GroupWalk::Step GroupWalk::end_part() {
  if (below_ && !below_->trouble() && trouble_) trouble_ = below_->trouble();
  ++part_;
  here_ = nullptr;
  below_.reset();
  is_passed_over_ = false;
  return Step::part_ended;
}

}  // namespace plimsoll::cgroup
