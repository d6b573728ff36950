#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "base/loop/worker.h"
#include "base/result.h"

namespace plimsoll::cli {

// Ends that wait for a disk which answers no more; beyond, the loop waits for it as well.
inline constexpr std::size_t kSyncedEndsMax = 10'000;

// What the ends are written to.
class EndsFile {
 public:
  virtual ~EndsFile() = default;
  // Forces to the disk what was written before. On a thread of its own.
  [[nodiscard]] virtual Result<void> force() = 0;
  // On the loop's thread, as all else: that has failed for the first time.
  virtual void on_force_failed(const Error& error) = 0;
};

// With --sync: tells the ends of jobs when they are on the disk, in their order. The disk is waited
// for on a thread of its own, and all ends that come meanwhile are forced to it together.
//
// Where it fails they are told nevertheless, after the error: a disk may have thrown away what it
// could not write, so that to force it once more would prove nothing.
//
// Invariant: whatever waits, a round is under way.
class SyncedEnds {
 public:
  using Tell = std::function<void()>;

  // Both must outlive this.
  SyncedEnds(const loop::Loop& loop, EndsFile& file);

  // An end that has been written; `tell` is called when it is on the disk.
  void add(Tell tell);

  // Waits until all have been told. Nothing is added afterwards.
  void finish();

  // Told without being surely on the disk.
  [[nodiscard]] std::uint64_t unforced() const { return unforced_; }

 private:
  // What is forced to the disk together.
  struct Round {
    std::vector<Tell> tells;
    Result<void> forced{};
  };

  void begin();
  void settle();
  void wait_for_round();

  EndsFile& file_;
  std::vector<Tell> waiting_;     // for the next round
  std::shared_ptr<Round> round_;  // none: nothing is under way
  std::uint64_t unforced_ = 0;
  loop::Worker worker_;  // last: ends before what it uses
};

}  // namespace plimsoll::cli
