#pragma once

#include <optional>
#include <vector>

#include "base/units.h"
#include "kernel/procfs/process_scanner.h"

namespace plimsoll::procfs {

// Who was left when the time was up.
struct Left {
  std::vector<Stat> processes;
  std::optional<Error> trouble;
};

// Ends every family of a run and its strays: kills, waits, looks again, until two looks in a row
// have found nobody or `deadline` has come. Blocks. For whoever outlives the other: the guardian
// after the supervisor's end, the supervisor after the guardian's.
Left kill_all(ProcessScanner& process_scanner, Instant deadline, Instant (*clock)());

// Ends the processes of runs whose guardian and supervisor are both gone, by their marks; each run
// that was met, once, with what is left of it; of those that were not come to before `deadline`,
// one with that. Leaves alone runs of other pid namespaces, where the two have other numbers, and
// those that this process itself is a job of.
struct Abandoned {
  std::string run;
  Left left;
};
std::vector<Abandoned> kill_abandoned(Instant deadline, Instant (*clock)());

}  // namespace plimsoll::procfs
