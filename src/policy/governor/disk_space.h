#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/units.h"
#include "policy/estimator/estimate.h"
#include "policy/governor/disk_floor.h"
#include "policy/governor/disk_tenancy.h"
#include "policy/governor/running_set.h"
#include "policy/governor/space_claims.h"
#include "policy/job/decision.h"
#include "policy/job/hold_cause.h"
#include "policy/job/observation.h"

// The free space of file systems: who may start to write, who stops, what is told of it.
namespace plimsoll::policy {

// At most so many run at once that have not shown it.
inline constexpr std::size_t kUnshownMost = 4;
// Space falls on as it has between two looks for so long before a pause takes hold: the time to the
// next look and that of the freezer.
inline constexpr Duration kSpaceAhead = std::chrono::milliseconds(300);
// Between two looks that are closer together the fall may be that of a single write.
inline constexpr Duration kFallSpan = std::chrono::milliseconds(50);
// A paused writer goes on where so much of the floor is free beyond it, so that nothing flickers;
// and a shortage is told again once as much was.
inline constexpr double kSpaceCushion = 1.0 / 8;

// One file system, as those see it who are to start.
struct DiskRoom {
  const DiskFloor* disk = nullptr;
  double free = 0;          // bytes, now
  double promised = 0;      // of these, to the running jobs
  std::size_t unshown = 0;  // of them, those of which nothing is known yet
  std::size_t writers = 0;  // running jobs that write or may: what they leave can be waited for
  bool has_paused = false;  // for want of its space: they go on first
  bool is_awaited = false;  // by a job that goes first

  // Bytes that a start may still write.
  [[nodiscard]] double left() const { return free - promised - to_double(disk->floor); }
  // Whether the job's writing counts here.
  [[nodiscard]] bool is_for(const Estimate& estimate) const {
    return disk->rule == DiskRule::hold || estimate.is_written_told;
  }
};

// Why a job can't start now: the place of the file system among the rooms. A job of which nothing
// is known is only held behind others of that sort.
[[nodiscard]] std::optional<std::size_t> refuse_for_space(const std::vector<DiskRoom>& rooms,
                                                          const Estimate& candidate);
// The place of one that has less left than the job may write, though it be of no use to wait.
[[nodiscard]] std::optional<std::size_t> short_of_space(const std::vector<DiskRoom>& rooms,
                                                        const Estimate& candidate);
// Takes a start into account.
void count_in(std::vector<DiskRoom>& rooms, const Estimate& admitted);
// How the space is beside what the job may write; the sentence and the numbers of a refusal.
[[nodiscard]] std::string space_state(const DiskRoom& room, const Estimate& candidate);
[[nodiscard]] std::string space_reason(const DiskRoom& room, const Estimate& candidate);
[[nodiscard]] Numbers space_numbers(const DiskRoom& room, const Estimate& candidate);

// A file system's free space has fallen below its floor.
struct DiskNews {
  std::optional<JobId> writer;  // that has written most; absent: none has written anything
  Tenant tenant = kHost;        // whose it is
  std::string reason;           // a sentence
  Numbers numbers;
};

// How much is free of a file system; absent: that could not be told when it was looked at last.
struct DiskStatus {
  DiskFloor floor;
  std::optional<Bytes> free{};
};

// What is free of each, and what follows from it for those that run. Writers are paused, the last
// started first, so that earlier ones come to their ends and remove what they have written: a pause
// by itself frees nothing. The first of those that write goes on, as does the keel.
//
// Of several tenants, writers with which one has more than an equal part of the space are paused
// first, those with which he has most beyond it before others, be one of them the keel. Else one
// who writes without end would keep the others paused.
class DiskSpace {
 public:
  // kDisksMax at most.
  explicit DiskSpace(std::vector<DiskFloor> disks);

  // One look. O(running) where space is short. What falls below its floor is told at once; where
  // writers are held, by the next look if none of those that run is known to have written.
  [[nodiscard]] std::vector<DiskNews> observe(const DiskSample& sample,
                                              const RunningSet& running_set, Instant now);

  // For starts; without those of which nothing is known. They refer to this. O(running).
  [[nodiscard]] std::vector<DiskRoom> rooms(const RunningSet& running_set, Instant now) const;
  // What each tenant has of the same ones, in their order; `tenants`: of whom jobs run or wait.
  [[nodiscard]] std::vector<DiskTenancy> tenancies(const RunningSet& running_set,
                                                   std::size_t tenants, Instant now) const;

  // Appends what is to be done and marks it in the running set. O(1) unless there is news.
  void relieve(RunningSet& running_set, Instant now, std::vector<Decision>& rulings);

  // On each file system where writers are held. They refer to this and to the running set.
  // O(running).
  [[nodiscard]] std::vector<SpaceClaims> claims(const RunningSet& running_set) const;

  [[nodiscard]] std::vector<DiskStatus> status() const;

 private:
  struct Look {
    std::optional<double> free{};  // bytes
    double from = 0;               // the same at `since`
    Instant since{};
    double fall = 0;              // bytes a second from there to a later look; not negative
    bool is_below = false;        // as told
    bool is_unexplained = false;  // below, and not told yet: the next look may know who has written
  };
  static void take_fall(Look& look, const std::optional<double>& before, Instant now);
  [[nodiscard]] bool is_near(std::size_t disk) const;
  void stop_writers(std::size_t disk, RunningSet& running_set, Instant now,
                    std::vector<Decision>& rulings);

  std::vector<DiskFloor> disks_;
  std::vector<Look> looks_;
  bool is_new_ = false;  // a look since relieve()
};

}  // namespace plimsoll::policy
