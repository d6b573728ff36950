#include "guardian/cleaner.h"

#include <cstdio>

#include "guardian/clock.h"
#include "kernel/cgroup/placement.h"
#include "kernel/cgroup/run_removal.h"
#include "kernel/procfs/kill_all.h"

namespace plimsoll::guardian {
namespace {

// Long enough for anything but a process that waits for a broken device; what is left then is
// named, and swept by the next start or `plimsoll reap --stale`.
constexpr Duration kPatience = std::chrono::seconds(10);

}  // namespace

void Cleaner::clean(const std::vector<pid_t>& mains) {
  if (families_) clean_families(mains);
  clean_tree();
}

void Cleaner::clean_families(const std::vector<pid_t>& mains) {
  auto process_scanner = procfs::ProcessScanner::open(families_->run);
  procfs::Left left;
  if (process_scanner) {
    for (const pid_t main : mains)
      process_scanner->membership().born(process_scanner->membership().begin("left"), main);
    left = procfs::kill_all(*process_scanner, clock_now() + kPatience, &clock_now);
  } else {
    left.trouble = process_scanner.error();
  }
  if (left.processes.empty() && !left.trouble) return;
  std::fprintf(stderr, "plimsoll: some processes of the jobs could not be killed");
  if (left.trouble) std::fprintf(stderr, ": %s", left.trouble->message().c_str());
  for (const procfs::Stat& stat : left.processes) {
    std::fprintf(stderr, "\n  process %d (%s), state %c", stat.id.pid, stat.comm.c_str(),
                 stat.state);
  }
  std::fprintf(stderr, "\n  try `plimsoll reap --stale` later\n");
}

void Cleaner::clean_tree() {
  if (tree_.places.empty()) return;
  std::vector<cgroup::Group::Part> bases;
  for (HandOver::Place& place : tree_.places) {
    auto base = cgroup::Directory::adopt(std::move(place.base), place.version);
    bases.push_back({std::move(base), place.controllers});
  }
  const int home = tree_.home_procs ? tree_.home_procs.get() : -1;
  const cgroup::Remains remains =
      cgroup::destroy_run(bases, tree_.name, home, clock_now() + kPatience, &clock_now);
  if (remains.gone) {
    for (std::size_t i = 0; i < bases.size(); ++i) {
      cgroup::remove_made(bases[i].directory, tree_.places[i].named);
    }
    return;
  }
  std::fprintf(stderr, "plimsoll: the cgroup %s could not be removed", tree_.name.c_str());
  if (remains.trouble) std::fprintf(stderr, ": %s", remains.trouble->message().c_str());
  for (const cgroup::StuckProcess& process : remains.processes) {
    std::fprintf(stderr, "\n  process %d (%s), state %c, waits in %s", process.pid,
                 process.comm.c_str(), process.state, process.wchan.c_str());
  }
  std::fprintf(stderr, "\n  try `plimsoll reap --stale` later\n");
}

}  // namespace plimsoll::guardian
