#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "base/units.h"

// One machine, several runs: who may use how much of its memory and its cores.
namespace plimsoll::policy {

// What one run tells the others of the same machine of one resource.
template <class Amount>
struct Need {
  Amount used{};         // now
  Amount claimed{};      // what its running jobs are believed to reach; at least `used`
  bool wanting = false;  // it has jobs that wait for more
};

struct RunClaim {
  Need<Bytes> memory;     // of its pool
  Bytes starting{};       // what jobs that were just started are about to use beside `memory.used`
  Need<double> cores;     //
  std::size_t running{};  // jobs
  // When the oldest of those started that may go on, be they paused; absent: there is none.
  std::optional<Instant> oldest{};
  // Jobs that are there, be they paused, without small ones. For a run's own share: it is not told.
  std::size_t sizeable{};
  std::size_t unsettled{};  // jobs that were started without knowledge, their needs not yet shown
};

// Who else is there. Runs of the same user, and of root, are believed. What other users' runs tell
// is their word alone: it can hold back starts, and never has a running job paused or ended.
struct Beside {
  std::vector<RunClaim> believed{};
  std::vector<RunClaim> told{};  // for each other user one, of all of his runs
  std::size_t users = 1;         // of those believed, with this run's own
  std::size_t runs_of_own = 1;   // of this run's user, with it

  // So many have the same share.
  [[nodiscard]] std::size_t parts() const { return (users + told.size()) * runs_of_own; }
};

// What a run may plan with.
struct Share {
  Bytes line{};
  double cores = 0;  // for starts
  // The line of all runs together, where there are others: what is small is small beside it.
  std::optional<Bytes> common_line{};
  Bytes taken{};  // of the line: others are about to use it, so that nothing may be started there
  // Of the line of all, where other runs use some: what they leave. A job for which that is too
  // little waits for them, it does not fail.
  std::optional<Bytes> left_by_others{};
  // Runs whose oldest jobs are older use or expect much of the memory: where that is short, the
  // only job of this one may be paused, as the eldest's goes on.
  bool has_elder = false;
  // Jobs of believed runs that have yet to show their needs: the slow start is one for all.
  std::size_t unsettled = 0;
  // Of the line: other users' runs say that they have it or are about to. Nothing that is not alone
  // may be started there; what runs may grow into it.
  Bytes told{};
};

// As many jobs without shown needs as count; so many hold any start back.
inline constexpr std::size_t kUnsettledMost = 1'000'000;

// A run is left at least this share, however much the others hold: with less it could not tell a
// job that is too big from one that came at a bad time.
inline constexpr double kShareMin = 1.0 / 16;

// Less than this share of the whole is not worth waiting for.
inline constexpr double kTakenMin = 0.01;

// The elder runs that still expect to grow are given so much of the whole ahead, together, as they
// go on one after the other: while they grow by that, younger ones hear of it and end.
inline constexpr double kElderMargin = 1.0 / 16;

// Less than this share of the whole in the hands of elder runs is not worth pausing an only job
// for: of something small that runs for days nothing comes back.
inline constexpr double kEldersLeast = 1.0 / 8;

// Of the `whole` of the machine: what the others have not claimed; at least the fair share as far
// as that is not in use; while others want more, not above the fair share, but what is in use
// already need not be given back before others use it. A run whose only job is bigger than all that
// gets whatever is left. Memory and cores each for itself. What others' jobs that were just
// started are about to use is no reason to give back what one has, only to start nothing there.
//
// Runs that can't all have what they need are ordered by the age of their oldest jobs. What is left
// to one is what elder runs have not claimed and younger ones do not use, and at least the fair
// share as far as that is not in use; and what it uses is not taken away by younger ones. So the
// eldest gets to its end, those who wait for it are paused, and the youngest is the first whose
// memory is taken.
//
// Users have equal parts, and so have the runs of each in his. What another user tells counts at
// most with his part, and against starts alone: the line is as if he was not there.
[[nodiscard]] Share share_of(const Share& whole, const RunClaim& own, const Beside& beside);

}  // namespace plimsoll::policy
