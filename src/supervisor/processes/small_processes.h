#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <vector>

#include "base/loop/loop.h"
#include "base/unique_fd.h"
#include "base/units.h"

namespace plimsoll::supervisor {

// One that runs without waiting and without a group of its own (policy::is_small()).
struct SmallProcess {
  JobId id{};
  int pid = 0;
  UniqueFd pidfd;
  Bytes peak{};  // that it is expected to reach
  Instant since{};
};

class SmallProcessesObserver {
 public:
  SmallProcessesObserver() = default;
  SmallProcessesObserver(const SmallProcessesObserver&) = delete;
  SmallProcessesObserver& operator=(const SmallProcessesObserver&) = delete;
  virtual ~SmallProcessesObserver() = default;
  virtual void on_small_ended(JobId process) = 0;
  // It stays, or has grown: it is none any more.
  virtual void on_grown(SmallProcess process) = 0;
};

// Keeps an eye on small processes, and bounds what all together may take.
class SmallProcesses {
 public:
  // `loop` and `observer` must outlive this.
  SmallProcesses(loop::Loop& loop, SmallProcessesObserver& observer);

  // Nobody has set memory aside for them, so they may take so much of the line: one part in
  // kOfLine, which is what the margins of an admission leave free. Each also counts with its tables
  // in the kernel. Guesses.
  static constexpr std::uint64_t kOfLine = 16;
  static constexpr Bytes kTables{std::uint64_t{256} << 10};
  static constexpr std::size_t kMost = 256;  // a look at each of them every kLook
  // One in so many is measured like any other, so that it is seen when its kind is small no more. A
  // prime, as kinds may take turns.
  static constexpr std::uint64_t kCheckedOneIn = 251;
  // Whether there is room for one that is expected to reach so much.
  [[nodiscard]] bool has_room(Bytes peak, Bytes line) const;
  // Of one that could begin as small: whether it is the one that is measured.
  [[nodiscard]] bool is_checked() { return ++known_ % kCheckedOneIn == 0; }
  void add(SmallProcess process);
  // It is none any more; nothing if it was none.
  std::optional<SmallProcess> take(JobId process);
  [[nodiscard]] std::size_t size() const { return processes_.size(); }

  // All are looked at so often; one that lives for kStays, or has kGrown, is small no more: twice
  // what is_small() allows.
  static constexpr Duration kLook = std::chrono::milliseconds(50);
  static constexpr Duration kStays = std::chrono::milliseconds(500);
  static constexpr Bytes kGrown{std::uint64_t{64} << 20};

 private:
  void look();

  SmallProcessesObserver& observer_;
  std::vector<SmallProcess> processes_;
  std::uint64_t known_ = 0;  // that is_checked() was asked of
  loop::Timer timer_;
};

}  // namespace plimsoll::supervisor
