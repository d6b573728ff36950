#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "kernel/procfs/table.h"
#include "kernel/procfs/usage.h"
#include "supervisor/external/measured_groups.h"

namespace plimsoll::supervisor {

// A process and its descendants, among them those whose parent has ended: one is a member by its
// parent, or by having been one before. As the last reading saw them. Nobody is in two families,
// and counted twice: who is the first of one is not of another, nor are those below. Who is in a
// group that is measured is a member, but what he uses is counted there alone.
struct ProcessFamily {
  std::map<int, procfs::Stat> members;  // before any reading, the first process alone
  procfs::Usage usage;
  std::uint64_t reading = 0;  // its number; 0: none has seen the family yet
};

// Everybody who lives on this machine, and what each family uses: read once for all external jobs,
// as a look costs about 10 us for each process of the machine, and some milliseconds for a large
// one. Only read() is for another thread.
class ProcessReading {
 public:
  // Waits for the kernel, without bound.
  void read(Instant now);

 private:
  friend class ProcessSnapshot;
  // What one reading hands on to the next; of the thread that reads.
  struct Followed {
    procfs::Id first;
    std::map<int, procfs::Stat> members;
    procfs::Meter meter{0};
  };
  struct Look {
    std::weak_ptr<ProcessFamily> family;
    std::shared_ptr<Followed> followed;
  };

  ProcessReading(const procfs::ProcDir& proc, std::uint64_t number, std::vector<Look> looks,
                 MeasuredGroups measured)
      : proc_(proc), number_(number), looks_(std::move(looks)), measured_(std::move(measured)) {}

  void assign(const procfs::Table& table,
              const std::unordered_map<int, std::vector<int>>& children);
  [[nodiscard]] std::map<int, procfs::Stat> not_measured(
      const std::map<int, procfs::Stat>& members) const;

  const procfs::ProcDir& proc_;
  std::uint64_t number_;
  std::vector<Look> looks_;
  MeasuredGroups measured_;
  bool has_failed_ = false;
};

// The readings of the processes of external jobs, one after the other, each on a thread that may
// wait for it. Of the loop's thread.
class ProcessSnapshot {
 public:
  static Result<std::shared_ptr<ProcessSnapshot>> open();

  // Each reading that begins from now on sees this process and its descendants. Refused if it is
  // the first of another family.
  Result<std::shared_ptr<ProcessFamily>> follow(const procfs::Stat& first);

  // Whether there is anybody to be looked at.
  [[nodiscard]] bool has_families();
  // Begins a reading, once the last one is taken. This must outlive it.
  [[nodiscard]] ProcessReading begin(MeasuredGroups measured = {});
  // What it has seen holds from now on; where /proc could not be read, the last one's.
  void take(const ProcessReading& reading);

  // The number of the last that has begun.
  [[nodiscard]] std::uint64_t begun() const { return begun_; }
  [[nodiscard]] const procfs::ProcDir& proc() const { return proc_; }

 private:
  explicit ProcessSnapshot(procfs::ProcDir proc) : proc_(std::move(proc)) {}

  procfs::ProcDir proc_;
  std::vector<ProcessReading::Look> looks_;
  std::uint64_t begun_ = 0;
};

}  // namespace plimsoll::supervisor
