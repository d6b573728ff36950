#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "base/result.h"
#include "kernel/procfs/table.h"

namespace plimsoll::procfs {

// One round of a signal over processes.
struct Round {
  std::size_t sent = 0;
  std::optional<Error> trouble;  // the first failure that is not "gone"
};

// Sends a signal to each of `targets`, through a pidfd that was opened before the process was found
// to be still the same by its start: a number that was used again is never hit. Those that `user`
// could not signal, as is asked while that is held, are left out; absent: nobody is for that.
Round send_to(const ProcDir& proc, const std::vector<Stat>& targets, int signal,
              std::optional<std::uint32_t> user = {});

// The same to the process groups that `targets` alone make up, as `table` shows: in one step of the
// kernel's, so that who forks and exits faster than it can be found does not slip through. Does
// nothing before Linux 6.9.
void send_to_groups(const ProcDir& proc, const Table& table, const std::map<int, Stat>& targets,
                    int signal);

}  // namespace plimsoll::procfs
