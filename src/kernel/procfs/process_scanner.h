#pragma once

#include <optional>
#include <set>

#include "kernel/procfs/membership.h"
#include "kernel/procfs/signals.h"

namespace plimsoll::procfs {

// The families of a run as they are on this machine: the membership, fed from /proc, and what is
// done to a family. Never waits.
class ProcessScanner {
 public:
  static Result<ProcessScanner> open(Membership::Config config);

  [[nodiscard]] Membership& membership() { return membership_; }
  [[nodiscard]] const Membership& membership() const { return membership_; }
  [[nodiscard]] const ProcDir& proc() const { return proc_; }
  // Of the last look.
  [[nodiscard]] const Table& table() const { return table_; }

  // Counts anew who lives. About 10 us for each process of the machine.
  Result<void> look();

  // Stops everybody in a family, looking again until nobody new turns up, kStopRounds times at
  // most. Who was not stopped before and is now is added to `stopped`.
  Round stop(FamilyId family, std::set<Id>& stopped);

  // Stops as above, so that nobody forks away, and kills. Who was born meanwhile is met by the next
  // call: look, and call again until the family is empty.
  Round kill(FamilyId family);

  // The same without a look: of those who are known.
  void stop_known(FamilyId family, std::set<Id>& stopped);

  // Stops those again that have been continued since. Whether none had to be.
  bool stop_again(const std::set<Id>& stopped);

  // Lets those go on that were stopped.
  void resume(const std::set<Id>& stopped);

  Round signal_all(FamilyId family, int signal);

  // Each round finds the children that were being born in the one before. A family that still grows
  // after so many forks faster than it can be found, and is killed as it is.
  static constexpr int kStopRounds = 8;

 private:
  ProcessScanner(ProcDir proc, Membership membership)
      : proc_(std::move(proc)), membership_(std::move(membership)) {}
  ProcDir proc_;
  Membership membership_;
  Table table_;
};

// This process, or another one, as it is now.
Result<Id> id_of(const ProcDir& proc, int pid);

// The children of a process.
Result<std::vector<Id>> children_of(const ProcDir& proc, int pid);

}  // namespace plimsoll::procfs
