#pragma once

#include <atomic>
#include <cstdint>

#include "base/units.h"

namespace plimsoll::daemon {

// What a piece of work on files shares with whoever waits for it: that it gets on, and that nobody
// waits any more. From any thread.
class FileTurn {
 public:
  // Work of many steps says this at each of them. False: it was given up, and what it would still
  // do is not wanted.
  bool step() {
    ++steps_;
    return !given_up_;
  }

  // A thread has taken it up.
  void begin(Instant now) { begun_ = now; }
  [[nodiscard]] bool is_begun() const { return begun_.load() != Instant::max(); }
  [[nodiscard]] Instant begun() const { return begun_; }  // Instant::max(): not yet

  void give_up() { given_up_ = true; }
  [[nodiscard]] bool is_given_up() const { return given_up_; }
  [[nodiscard]] std::uint64_t steps() const { return steps_; }

 private:
  std::atomic<std::uint64_t> steps_ = 0;
  std::atomic<Instant> begun_ = Instant::max();
  std::atomic<bool> given_up_ = false;
};

}  // namespace plimsoll::daemon
