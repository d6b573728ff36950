#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace plimsoll::loop {

// Whether systemd is the init of this machine (sd_booted(3)).
bool systemd_runs();

// Whether the manager that start_scope() asks answers on its bus. Blocks as long as connecting
// does.
Result<void> reach_systemd();

// As of cpu.weight and io.weight: 1 to 10000, 100 is the default.
struct ScopeWeights {
  double cpu = 100;
  double io = 100;
};

// Asks systemd for a transient scope with Delegate=yes around these processes and waits until they
// are in it: the system manager as root, else the user's own over the user bus. systemd removes the
// scope when its last process is gone. Blocks for at most kScopePatience (systemd.scope(5),
// "Control Group APIs and Delegation").
Result<void> start_scope(const std::string& name, const std::vector<int>& pids,
                         const ScopeWeights& weights);

}  // namespace plimsoll::loop
