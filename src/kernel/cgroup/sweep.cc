#include "kernel/cgroup/sweep.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>

#include <algorithm>

#include "base/file.h"
#include "kernel/cgroup/run_removal.h"
#include "kernel/cgroup/run_tree.h"
#include "kernel/cgroup/run_weight.h"
#include "kernel/procfs/parse.h"
#include "kernel/procfs/table.h"

namespace plimsoll::cgroup {
namespace {

constexpr int kOrphanedGapMs = 10;

// The locks of a run's directory in every hierarchy that has it; nothing if somebody holds one.
std::vector<StaleRun> claim(const std::string& name, const std::vector<Group::Part>& parents) {
  std::vector<StaleRun> claims;
  for (const Group::Part& parent : parents) {
    auto claimed = StaleRun::claim(parent.directory, name);
    if (!claimed && parent.directory.open_child(name)) return {};
    if (claimed) claims.push_back(std::move(*claimed));
  }
  return claims;
}

// Whether a run is locked, but by no process that lives: where the kernel says who took the lock.
bool is_orphaned(const RunParents::value_type& run) {
  const auto locks = read_text_at(AT_FDCWD, "/proc/locks");
  if (!locks) return false;
  bool is_there = false;
  for (const Group::Part& parent : run.second) {
    struct stat status{};
    const auto directory = parent.directory.open_child(run.first);
    if (!directory || ::fstat(directory->fd(), &status) != 0) continue;
    is_there = true;
    const auto owner = procfs::flock_owner(*locks, status);
    const auto stat = owner ? procfs::stat_of(*owner) : std::nullopt;
    if (stat && !stat->is_dead()) return false;
  }
  return is_there;
}

void add_runs_at(const Group::Part& base, RunParents& runs) {
  const auto names = runs_below(base.directory);
  if (!names) return;
  for (const std::string& name : *names) {
    if (auto parent = base.directory.clone()) {
      runs[name].push_back({std::move(*parent), base.controllers});
    }
  }
}

void search(const Group::Part& place, unsigned depth, RunParents& runs) {
  add_runs_at(place, runs);
  if (depth == kSearchDepthMax) return;
  const auto children = place.directory.children();
  if (!children) return;
  for (const std::string& name : *children) {
    if (is_run_name(name)) continue;
    if (auto child = place.directory.open_child(name)) {
      search({std::move(*child), place.controllers}, depth + 1, runs);
    }
  }
}

}  // namespace

RunParents runs_at(const std::vector<Group::Part>& bases) {
  RunParents runs;
  for (const Group::Part& base : bases) add_runs_at(base, runs);
  return runs;
}

RunParents runs_anywhere(const Hierarchies& hierarchies) {
  RunParents runs;
  for (const Hierarchy& hierarchy : hierarchies.all) {
    auto root = Directory::open(hierarchy.mount_point, hierarchy.version);
    if (root) search({std::move(*root), hierarchy.controllers}, 0, runs);
  }
  return runs;
}

std::vector<Swept> sweep(const RunParents& runs, Orphaned orphaned, Instant deadline,
                         Instant (*clock)()) {
  std::vector<Swept> swept;
  const auto is_swept = [&](const RunParents::value_type& run) {
    const auto& [name, parents] = run;
    const std::vector<StaleRun> claims = claim(name, parents);  // held while it is removed
    if (claims.empty()) return false;
    swept.push_back({name, destroy_run(parents, name, -1, deadline, clock)});
    for (const Group::Part& parent : parents) weigh_made(parent.directory);
    return true;
  };
  std::vector<const RunParents::value_type*> awaited;
  for (const RunParents::value_type& run : runs) {
    if (!is_swept(run) && orphaned == Orphaned::awaited && is_orphaned(run)) {
      awaited.push_back(&run);
    }
  }
  const Instant end = std::min(deadline, clock() + kOrphanedPatience);
  while (!awaited.empty() && clock() < end) {
    ::poll(nullptr, 0, kOrphanedGapMs);
    std::erase_if(awaited, [&](const auto* run) { return is_swept(*run) || !is_orphaned(*run); });
  }
  return swept;
}

bool has_stale(const RunParents& runs) {
  return std::any_of(runs.begin(), runs.end(),
                     [](const auto& run) { return !claim(run.first, run.second).empty(); });
}

}  // namespace plimsoll::cgroup
