#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "base/units.h"
#include "kernel/procfs/table.h"

namespace plimsoll::procfs {

// What a family uses, as far as /proc tells. Counters are of all that was seen: a process that was
// born and died between two looks, and that nobody waited for, is not in them.
struct Usage {
  Bytes used;      // anonymous and shared memory, not counted twice where it is shared
  Bytes resident;  // with mapped files
  Bytes swap;
  std::uint64_t threads = 0;
  Duration user{};
  Duration system{};
  std::optional<Traffic> io{};  // absent where /proc/PID/io can't be read
};

// Follows the use of one family from look to look.
class Meter {
 public:
  explicit Meter(int guardian) : guardian_(guardian) {}

  void look(const ProcDir& proc, const std::map<int, Stat>& members, Instant now);

  // The main process, whose end is told apart, with the kernel's own count of it and of all it has
  // waited for; nothing: it has ended unseen. Before its exec the memory that it was first seen
  // with is its parent's, and left out.
  void main_is(std::optional<int> pid) {
    if (main_ != pid) inherited_.reset();
    main_ = pid;
  }
  void main_ended(Duration user, Duration system, Traffic io);

  [[nodiscard]] const Usage& usage() const { return usage_; }

  // What processes share is looked at anew when so many times its cost has passed: 2 % of a CPU.
  // Reading smaps_rollup takes by the size of the process, some milliseconds for a GiB.
  static constexpr int kSharePause = 50;
  static constexpr Duration kShareGapMin = std::chrono::seconds(1);

 private:
  // Of one process: its own and its waited-for children's.
  struct Count {
    Stat stat;
    std::optional<Traffic> io;
  };
  void count(const Count& of);
  Bytes inherited_by(const Stat& stat, Bytes whole);
  void look_at_share(const ProcDir& proc, const std::map<int, Bytes>& by_process, Instant now);

  int guardian_;
  std::optional<int> main_;
  std::optional<Bytes> inherited_;  // by the main process, which has not executed anything yet
  std::map<Id, Count> last_;
  // Of those that have ended and that nobody but the guardian has waited for.
  Duration ended_user_{};
  Duration ended_system_{};
  std::optional<Traffic> ended_io_;
  double share_ = 1;  // what is left of the sum when shared pages are counted once
  Instant share_due_{};
  Usage usage_;
};

// CPU time that the calling thread has had: what a look costs, whoever else wants the CPU.
Duration thread_time();

// The ticks of /proc/PID/stat as time.
Duration time_of_ticks(std::uint64_t ticks);

}  // namespace plimsoll::procfs
