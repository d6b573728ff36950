#include "guardian/cleaner.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <thread>

#include "base/file.h"
#include "base/text.h"
#include "guardian/child_list.h"
#include "guardian/clock.h"
#include "guardian/say.h"
#include "kernel/cgroup/placement.h"
#include "kernel/cgroup/run_removal.h"
#include "kernel/cgroup/run_weight.h"
#include "kernel/procfs/kill_all.h"

namespace plimsoll::guardian {
namespace {

// Long enough for anything but a process that waits for a broken device; what is left then is
// named, and swept by the next start or `plimsoll reap --stale`.
constexpr Duration kPatience = std::chrono::seconds(10);

constexpr auto kOrphanGap = std::chrono::milliseconds(5);

std::string comm_of(pid_t pid) {
  const auto text = read_text_at(AT_FDCWD, "/proc/" + std::to_string(pid) + "/comm");
  return text ? std::string(trim(*text)) : "?";
}

// Its pid can't be another's: it is ours to wait for.
bool has_ended(pid_t child) {
  siginfo_t info{};
  return ::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG) != 0 ||
         info.si_pid == child;
}

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
    std::fprintf(stderr, "\n  process %d (%s), state %c", stat.id.pid, plain(stat.comm).c_str(),
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
      cgroup::weigh_made(bases[i].directory);  // what other runs are in has stayed
    }
    return;
  }
  std::fprintf(stderr, "plimsoll: the cgroup %s could not be removed", tree_.name.c_str());
  if (remains.trouble) std::fprintf(stderr, ": %s", remains.trouble->message().c_str());
  for (const cgroup::StuckProcess& process : remains.processes) {
    std::fprintf(stderr, "\n  process %d (%s), state %c, waits in %s", process.pid,
                 plain(process.comm).c_str(), process.state, process.wchan.c_str());
  }
  std::fprintf(stderr, "\n  try `plimsoll reap --stale` later\n");
}

std::vector<Orphan> end_orphans(Instant deadline, Instant (*clock)()) {
  std::vector<Orphan> orphans;
  // Who dies has left his group a moment before he can be waited for.
  if (!children().empty()) std::this_thread::sleep_for(kOrphanGap);
  for (bool is_hopeful = true; is_hopeful && clock() < deadline;) {
    is_hopeful = false;
    for (const pid_t pid : children()) {
      if (has_ended(pid)) continue;
      const auto known = std::find_if(orphans.begin(), orphans.end(),
                                      [pid](const Orphan& orphan) { return orphan.pid == pid; });
      if (known == orphans.end()) orphans.push_back({pid, comm_of(pid), true});
      // Of a set-uid program it may be refused.
      if (::kill(pid, SIGKILL) == 0) is_hopeful = true;
    }
    if (is_hopeful) std::this_thread::sleep_for(kOrphanGap);
  }
  for (Orphan& orphan : orphans) orphan.lives = !has_ended(orphan.pid);
  return orphans;
}

}  // namespace plimsoll::guardian
