#include "cli/exec/stopped_family.h"

#include <signal.h>

#include <set>
#include <vector>

#include "kernel/procfs/signals.h"
#include "kernel/procfs/table.h"

namespace plimsoll::cli {

void continue_family(pid_t first) {
  const auto proc = procfs::ProcDir::open();
  if (!proc) return;
  const auto table = proc->read_table();
  if (!table) return;
  std::set<int> family = {first};
  for (bool grows = true; grows;) {
    grows = false;
    for (const auto& [pid, stat] : *table) {
      if (family.contains(stat.parent)) grows |= family.insert(pid).second;
    }
  }
  std::vector<procfs::Stat> members;
  for (const int pid : family) {
    if (const auto found = table->find(pid); found != table->end())
      members.push_back(found->second);
  }
  [[maybe_unused]] const auto sent = procfs::send_to(*proc, members, SIGCONT);
}

}  // namespace plimsoll::cli
