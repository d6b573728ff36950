#pragma once

#include "guardian/protocol.h"

namespace plimsoll::guardian {

// Reaps the run's tree that was handed over last. Works without a loop: it waits in the kernel.
class Cleaner {
 public:
  void take(HandOver tree) { tree_ = std::move(tree); }
  void clean();

 private:
  HandOver tree_;
};

}  // namespace plimsoll::guardian
