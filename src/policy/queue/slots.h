#pragma once

#include <functional>
#include <queue>
#include <vector>

#include "base/check.h"

namespace plimsoll::policy {

// The numbers 1, 2, 3, ... for jobs that run at the same time (`{%}` of a command template); the
// lowest free one is taken first, so n jobs at once never see a number above n.
class Slots {
 public:
  unsigned take() {
    if (free_.empty()) return ++highest_;
    const unsigned slot = free_.top();
    free_.pop();
    return slot;
  }
  // `slot` was taken and not given back since.
  void give_back(unsigned slot) {
    PLIMSOLL_CHECK(slot >= 1 && slot <= highest_);
    free_.push(slot);
  }

 private:
  // Each of 1..highest_ is either in free_ or taken.
  unsigned highest_ = 0;
  std::priority_queue<unsigned, std::vector<unsigned>, std::greater<>> free_;
};

}  // namespace plimsoll::policy
