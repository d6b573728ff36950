#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "base/result.h"
#include "base/units.h"

namespace plimsoll::guardian {

// The supervisor beats so often at least while it is watched: a quarter of StallDetector::kMax, so
// that three beats may be late.
inline constexpr Duration kBeatInterval = std::chrono::milliseconds(50);

// What supervisor and guardian share without a message: a page of memory, mapped before the fork,
// on which the one says that it has begun, and beats, and the other that it holds the pool.
// Lock-free, so that a process that was stopped anywhere holds up nobody. Each side holds its own
// Heartbeat on the same page.
//
// The hold is a word that changes hands: only the guardian takes it (watched -> acting -> held) and
// gives it back (held -> acting -> watched); the supervisor says when it may (watch(), release()).
class Heartbeat {
 public:
  // How the pool was left when the supervisor gave up being watched.
  enum class Left : std::uint8_t { alone, held };

  static Result<Heartbeat> make();
  // The same page, for the other process.
  [[nodiscard]] Heartbeat clone() const { return Heartbeat(page_); }

  // --- the supervisor's
  // From now on it hears signals, and has things to clean up. False: the guardian is about to end
  // it, and nothing may be begun.
  [[nodiscard]] bool begin() { return change(Course::prepares, Course::has_begun); }
  void beat() { page_->beats.fetch_add(1, std::memory_order_release); }
  // From now on its silence is the guardian's business; told to it by a message as well.
  void watch();
  // From now on the guardian leaves the pool as it is. Waits while it is about to freeze or thaw
  // it: microseconds, and no longer than kActMax. `held`: the pool is frozen and its wall lifted,
  // which is the caller's now.
  [[nodiscard]] Left release(Instant now);
  [[nodiscard]] bool is_held() const;
  // How often the guardian has held the pool and let it go again.
  [[nodiscard]] std::uint32_t stalls() const;
  // How long it has held it in all, a hold that lasts until `now` included. `now` less this is a
  // clock that stands still with the jobs and never goes back.
  [[nodiscard]] Duration stalled(Instant now) const;

  // --- the guardian's
  [[nodiscard]] bool has_begun() const {
    return page_->course.load(std::memory_order_acquire) == Course::has_begun;
  }
  // It has not begun, and never will: it may be killed.
  [[nodiscard]] bool prevent_begin() { return change(Course::prepares, Course::is_over); }
  [[nodiscard]] std::uint64_t beats() const { return page_->beats.load(std::memory_order_acquire); }
  [[nodiscard]] bool is_watched() const;
  // The pool may be frozen, if this is true; then hold() when that is done.
  [[nodiscard]] bool begin_hold(Instant now);
  void hold();
  // It may be thawed, if this is true (else the supervisor has taken it over); then let_go().
  [[nodiscard]] bool begin_let_go();
  void let_go(Instant now);

  // A write to the freezer takes microseconds; a guardian that was stopped in the middle of one is
  // not waited for any longer.
  static constexpr Duration kActMax = std::chrono::seconds(1);

 private:
  enum class Course : std::uint32_t { prepares, has_begun, is_over };
  enum class Hold : std::uint32_t { unwatched, watched, acting, held };
  struct Page {
    std::atomic<Course> course{Course::prepares};
    std::atomic<std::uint64_t> beats{0};
    std::atomic<Hold> hold{Hold::unwatched};
    std::atomic<std::uint32_t> stalls{0};
    // Of the time stalled, in one word so that it can't be read half-changed: if it is not
    // negative, that many nanoseconds in all; else the pool is held, and -1 less this is where the
    // clock of the jobs stands.
    std::atomic<std::int64_t> stalled_ns{0};
  };
  static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

  explicit Heartbeat(std::shared_ptr<Page> page) : page_(std::move(page)) {}
  void end_stall(Instant now);
  // Whether it is `to` by now, and was `from`.
  [[nodiscard]] bool change(Course from, Course to);
  [[nodiscard]] bool change(Hold from, Hold to);

  std::shared_ptr<Page> page_;  // unmapped with the last of this process
};

}  // namespace plimsoll::guardian
