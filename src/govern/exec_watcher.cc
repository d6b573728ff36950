#include "govern/exec_watcher.h"

#include <unistd.h>

#include <algorithm>
#include <set>
#include <utility>

#include "govern/seen_exec.h"
#include "kernel/procfs/usage.h"

namespace plimsoll::govern {
namespace {

using supervisor::Families;

// The guardian's child is this process, with what it has started; others may be there from before
// the guardian was one.
std::set<procfs::Id> living_below(int guardian) {
  std::set<procfs::Id> ids;
  std::vector<int> pids = procfs::family_of(guardian);
  pids.push_back(::getpid());  // where the kernel lists no children
  for (const int pid : pids) {
    if (const auto stat = procfs::stat_of(pid); stat && pid != guardian) ids.insert(stat->id);
  }
  return ids;
}

}  // namespace

ExecWatcher::ExecWatcher(const Scene& scene, ExecObserver& observer, procfs::ProcDir proc)
    : families_(scene.families),
      observer_(observer),
      proc_(std::move(proc)),
      sightings_(scene.guardian, living_below(scene.guardian)),
      readers_(scene.loop, *this, read_seen_exec),
      timer_(scene.loop.timer([this] { look(); })) {}

ExecWatcher::~ExecWatcher() = default;

Result<std::unique_ptr<ExecWatcher>> ExecWatcher::create(const Scene& scene,
                                                         ExecObserver& observer) {
  auto proc = procfs::ProcDir::open();
  if (!proc) return pass(std::move(proc));
  return std::unique_ptr<ExecWatcher>(new ExecWatcher(scene, observer, std::move(*proc)));
}

void ExecWatcher::begin() {
  looks_ = true;
  timer_.set(loop::now());
}

void ExecWatcher::end() { looks_ = false; }

void ExecWatcher::look() {
  if (!looks_) return;
  const Instant now = loop::now();
  if (families_ == nullptr) return timer_.set(look_here(now));
  families_->look(now);
  take(families_->process_scanner().table());
  timer_.set(families_->due());
}

// When to look again.
Instant ExecWatcher::look_here(Instant now) {
  const Duration before = procfs::thread_time();
  if (const auto table = proc_.read_table()) take(*table);
  const Duration cost = procfs::thread_time() - before;
  return now + std::clamp(Families::kCostShare * cost, Families::kGapMin, Families::kGapMax);
}

void ExecWatcher::take(const procfs::Table& table) {
  for (const procfs::Stat& seen : sightings_.take(table)) readers_.read(call_of(seen));
}

void ExecWatcher::tell_again(const std::vector<procfs::Id>& processes) {
  for (const procfs::Id& process : processes) sightings_.forget(process);
}

// What is not told is for another look.
void ExecWatcher::on_read(const seccomp_notif& call, Result<std::optional<Exec>> exec) {
  if (!looks_ || !exec || !*exec) {
    return sightings_.forget(process_of(call), stack_of(call));
  }
  observer_.on_exec(std::nullopt, **exec);
}

}  // namespace plimsoll::govern
