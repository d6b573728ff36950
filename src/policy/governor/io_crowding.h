#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "base/units.h"
#include "policy/estimator/estimate.h"
#include "policy/governor/running_set.h"
#include "policy/job/hold_cause.h"
#include "policy/job/observation.h"

namespace plimsoll::policy {

// A job is bound by I/O if it waits for I/O during this share of its time and moves so much. Who
// waits and moves little waits behind others, as a compiler does whose sources are on a busy disk.
// Guesses.
inline constexpr double kIoBoundWaits = 0.3;
inline constexpr double kIoBoundMoves = 1 << 18;  // bytes a second

// The devices are busy from the higher share of time in which some job waits for I/O, until that
// falls below the lower. It is smoothed over kIoShown: a device that stands still while jobs are
// held is lost for good, a hold is not. Guesses.
inline constexpr double kIoBusy = 0.6;
inline constexpr double kIoFree = 0.3;
inline constexpr Duration kIoShown = std::chrono::seconds(1);

// What so many jobs move together is known after they have run for so long: the caches are passed,
// and write-back, which comes in bursts of a second or so, is averaged.
inline constexpr Duration kIoSettles = std::chrono::milliseconds(500);
inline constexpr Duration kIoMeasured = std::chrono::seconds(2);
// And counts for so long: jobs get on with other parts of their work. A guess.
inline constexpr Duration kIoRemembered = std::chrono::seconds(30);
// Jobs more were of no use if they brought less than this share of what they could have moved, or
// than that share of what the others moved, which is noise. Guesses.
inline constexpr double kIoGain = 0.25;
inline constexpr double kIoNoise = 0.05;
// Less than this, all together, says nothing of how much a device can do.
inline constexpr double kIoMovedLeast = 1 << 18;  // bytes a second
// Of more at once nothing is remembered.
inline constexpr std::size_t kIoCountsMax = 256;

// A start that has not been measured for so long, as the devices are not busy or other jobs come
// and go, keeps nobody waiting for that any more. Twice what a measurement takes at least.
inline constexpr Duration kIoUnshownMost = std::chrono::seconds(5);

// A job that is expected to end sooner is not held until others have shown what they move: it would
// wait for as long as it takes.
inline constexpr Duration kIoLong = std::chrono::seconds(10);

[[nodiscard]] bool is_io_bound(const Estimate& estimate);
// By what it has done of late, once that tells. One that is known to move much, or was seen to, is
// bound as long as it waits: where many push each other aside all of them move little.
[[nodiscard]] bool is_io_bound(const Member& member);
// Whether it is, and neither stands nor waits for its commands.
[[nodiscard]] bool moves(const Member& member);

// What was measured: that `more` jobs bound by I/O move about as much together as `fewer`.
struct IoLimit {
  std::size_t fewer = 0, more = 0;
  double moved_by_fewer = 0, moved_by_more = 0;  // bytes a second
  // Measured long ago. Then one job more is tried, and the limit holds unless that was of use.
  bool is_stale = false;
};

// What a start of a job bound by I/O would come into.
struct IoRoom {
  bool is_told = false;            // else nobody is held
  double waited = 0;               // share of the time in which some job waits for I/O
  bool is_busy = false;            // the devices are
  std::optional<IoLimit> limit{};  // remembered
  std::size_t running = 0;         // jobs bound by I/O
  std::size_t unshown = 0;  // of these, long ones whose part in what is moved is not measured
  std::size_t unseen = 0;   // of these, any that have started since the last look
};

// Whether this job waits for the disk, as far as the cores have other work (Round).
[[nodiscard]] bool is_held_for_io(const IoRoom& room, const Estimate& candidate);
// Takes a start into account.
void count_in(IoRoom& room, const Estimate& admitted);
// The sentence and the numbers of a refusal.
[[nodiscard]] std::string io_reason(const IoRoom& room);
[[nodiscard]] Numbers io_numbers(const IoRoom& room);

// Measures how much the jobs move together by how many of them are bound by I/O, and so how many
// the devices bear. That jobs wait for I/O says only that a device is what they wait for: one
// reader waits nearly all its time for a fast disk as for a slow one. Whether one more would be of
// use shows in what is moved with it and without it.
class IoCrowding {
 public:
  enum class Change : std::uint8_t { none, freed };
  // One look; `freed`: who was held a moment ago may start. O(running).
  Change observe(const MachineSample& sample, const RunningSet& running_set, Instant now);

  // O(running).
  [[nodiscard]] IoRoom room(const RunningSet& running_set, Instant now) const;

 private:
  // What so many jobs moved together, and what they could move, were each alone: bytes a second.
  struct Measured {
    std::size_t jobs = 0;
    double moved = 0, could = 0;
    Instant at{};
  };
  // From how many on more were of no use. As of `at`.
  struct Limit {
    Measured fewer, more;
    Instant at{};
  };
  [[nodiscard]] static bool is_of_no_use(const Measured& fewer, const Measured& more);
  [[nodiscard]] static bool is_fresh(Instant at, Instant now) { return now - at <= kIoRemembered; }
  void measure(double moved, double could, std::size_t jobs, double seconds, Instant now);
  void judge(const Measured& news);
  [[nodiscard]] std::optional<Limit> find_limit(Instant now) const;

  bool is_told_ = true;  // as of the last look; before the first the host is taken to tell
  double waited_ = 0;    // smoothed
  bool is_busy_ = false;
  std::optional<Instant> looked_;
  std::size_t jobs_ = 0;                      // bound by I/O, as of the last look
  Instant since_{};                           // that many
  double moved_ = 0;                          // bytes, within...
  double seconds_ = 0;                        // ...so much of that time
  std::map<std::size_t, Measured> measured_;  // by jobs
  std::optional<Limit> limit_;
};

}  // namespace plimsoll::policy
