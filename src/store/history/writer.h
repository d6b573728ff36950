#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/loop/batch_thread.h"
#include "store/history/store.h"

namespace plimsoll::history {

// A commit this often: a run that is killed loses no more, and thousands of short jobs cost a few
// commits.
inline constexpr Duration kCommitEvery = std::chrono::milliseconds(100);
// Experiences that wait for a slow disk; some megabytes.
inline constexpr std::size_t kWaitingMax = 10'000;

// Stores attempt summaries on a thread of its own. Nothing here but finish() and the destructor
// waits for the disk; what can't be stored is dropped, and take_notice() says so once.
class Writer {
 public:
  // The thread starts with the first experience.
  explicit Writer(Store store);

  // `recorded` is now.
  void add(policy::AttemptSummary attempt_summary, WallTime recorded);

  // What people are to be told; each only once.
  [[nodiscard]] std::optional<std::string> take_notice();

  // Experiences that were not stored, because too many waited or because of an error.
  [[nodiscard]] std::uint64_t dropped() const;

  // Stores what waits and ends the thread. Notices may be had, and nothing be added, afterwards.
  void finish();

 private:
  void write(const std::vector<Entry>& batch);

  Store store_;              // of the thread
  std::uint64_t added_ = 0;  // since the last trim; of the thread
  bool in_trouble_ = false;  // the last batch failed; of the thread
  mutable std::mutex mutex_;
  std::vector<std::string> notices_;  // guarded by mutex_
  std::uint64_t lost_ = 0;            // guarded by mutex_
  loop::BatchThread<Entry> thread_;   // last: ends before what it uses
};

}  // namespace plimsoll::history
