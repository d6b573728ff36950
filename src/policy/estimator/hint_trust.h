#pragma once

#include <deque>

#include "base/units.h"
#include "policy/estimator/estimate.h"

namespace plimsoll::policy {

// How far users' words on memory can be trusted: the share of a hint that the first attempt of a
// class really used, over the classes that had one. Who asks for ten times too much for one class
// does so for the next.
class HintTrust {
 public:
  // Of the first attempt of a class that ended. Both above 0.
  void learn(Bytes hint, Bytes peak);

  // What an attempt with this hint is believed to use, while its class is not known.
  [[nodiscard]] Belief expect(Bytes hint) const;

 private:
  std::deque<double> shares_;  // peak / hint, oldest first
};

}  // namespace plimsoll::policy
