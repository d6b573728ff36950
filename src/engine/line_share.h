#pragma once

#include <functional>
#include <string>

#include "engine/conductor.h"
#include "engine/ledger.h"
#include "loop/loop.h"

namespace plimsoll::engine {

// Keeps a run to its share of the machine's line while others of the same user run beside it: tells
// them what it has claimed, and moves the conductor's line as they come and go.
class LineShare {
 public:
  // All must outlive this. Begins at once.
  LineShare(loop::Loop& loop, Conductor& conductor, Ledger ledger, Bytes line);

  // The line of the whole machine, by the user's word.
  void set_line(Bytes line);

  // Late by so much at most; an estimate moves by little meanwhile.
  static constexpr Duration kInterval = std::chrono::milliseconds(500);
  // A smaller move is not worth a decision.
  static constexpr double kMoveShare = 0.01;

 private:
  void settle();

  Conductor& conductor_;
  Ledger ledger_;
  Bytes line_;
  Bytes share_;
  loop::Timer timer_;
};

}  // namespace plimsoll::engine
