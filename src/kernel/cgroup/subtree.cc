#include "kernel/cgroup/subtree.h"

#include <utility>

namespace plimsoll::cgroup {

SubtreeWalk::SubtreeWalk(const Directory& top) : top_(top.clone()), here_(top.clone()) {
  if (!top_ || !here_) {
    note(top_ ? here_.error() : top_.error());
    at_ = Step::ended;
  } else {
    list({});
  }
}

SubtreeWalk::Step SubtreeWalk::next() {
  if (at_ == Step::ended) return at_;
  if (at_ == Step::found) return at_ = enter();
  if (levels_.back().children.empty()) return at_ = leave();
  name_ = std::move(levels_.back().children.back());
  levels_.back().children.pop_back();
  return at_ = Step::found;
}

SubtreeWalk::Step SubtreeWalk::enter() {
  auto child = here_->open_child(name_);
  if (!child) {
    note(std::move(child).error());
    return Step::left;
  }
  here_ = std::move(child);
  list(name_);
  return Step::entered;
}

SubtreeWalk::Step SubtreeWalk::leave() {
  name_ = std::move(levels_.back().name);
  levels_.pop_back();
  return !levels_.empty() && go_up() ? Step::left : Step::ended;
}

void SubtreeWalk::list(std::string name) {
  Level level{.name = std::move(name), .children = {}};
  if (may_have_children(*here_)) {
    auto children = here_->children();
    if (children) {
      level.children = std::move(*children);
    } else {
      note(std::move(children).error());
    }
  }
  levels_.push_back(std::move(level));
}

// A group that somebody removes while it is here() still knows its parent.
bool SubtreeWalk::go_up() {
  if (levels_.size() == 1) {
    here_ = top_->clone();
  } else {
    here_ = here_->open_parent();
  }
  if (!here_) note(here_.error());
  return here_.has_value();
}

void SubtreeWalk::note(Error error) {
  if (trouble_ && !error.gone()) trouble_ = tl::unexpected(std::move(error));
}

}  // namespace plimsoll::cgroup
