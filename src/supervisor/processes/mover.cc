#include "supervisor/processes/mover.h"

#include <fcntl.h>

#include <string>
#include <utility>
#include <vector>

#include "base/file.h"
#include "kernel/cgroup/processes.h"
#include "kernel/cgroup/remove.h"
#include "kernel/procfs/table.h"

namespace plimsoll::supervisor {
namespace {

// Whoever is gone by now needs no move.
void move_all(const std::vector<int>& pids, const cgroup::Leaf& into) {
  for (const int pid : pids) [[maybe_unused]]
    const auto moved = cgroup::move_process(into, pid);
}

// The groups of a process, as the kernel writes them; empty of one that is gone.
std::string groups_of(int pid) {
  return read_text_at(AT_FDCWD, "/proc/" + std::to_string(pid) + "/cgroup").value_or("");
}

// Those below the process that live where it did. Who lives elsewhere is somebody else's.
std::vector<int> followers_of(const Newcomer& process, const std::string& groups) {
  std::vector<int> family = procfs::family_of(process.pid, process.apart);
  std::erase_if(family, [&](int each) { return each == process.pid || groups_of(each) != groups; });
  return family;
}

// A child that was born before its parent was moved is found by the next round.
Result<void> move_in(const Newcomer& process, const cgroup::Leaf& into) {
  const int pid = process.pid;
  const std::string groups = groups_of(pid);
  std::vector<int> followers;
  if (process.below == Below::come) followers = followers_of(process, groups);
  const auto has_ended = [&process] { return procfs::has_ended(process.pidfd.get()); };
  if (has_ended()) return fail(std::errc::no_such_process, "move process " + std::to_string(pid));
  auto moved = cgroup::move_process(into, pid);
  if (!moved || process.below == Below::stay) return moved;
  move_all(followers, into);
  for (int round = 0; round < Mover::kRounds; ++round) {
    followers = followers_of(process, groups);
    if (followers.empty() || has_ended()) break;
    move_all(followers, into);
  }
  return moved;
}

void empty_into(const cgroup::Group& group, const cgroup::Leaf& into) {
  for (int round = 0; round < Mover::kRounds; ++round) {
    const auto pids = cgroup::processes_below(group);
    if (!pids || pids->empty()) return;
    move_all(*pids, into);
  }
}

}  // namespace

void Mover::move(Newcomer process, std::shared_ptr<const cgroup::Leaf> into,
                 std::function<void(const Result<void>&)> done) {
  auto result = std::make_shared<Result<void>>();
  auto moved = std::make_shared<const Newcomer>(std::move(process));
  worker_.submit([result, moved = std::move(moved),
                  into = std::move(into)] { *result = move_in(*moved, *into); },
                 [result, done = std::move(done)] { done(*result); });
}

void Mover::empty(std::shared_ptr<const cgroup::Group> group,
                  std::shared_ptr<const cgroup::Leaf> into, std::function<void()> done) {
  worker_.submit([group = std::move(group), into = std::move(into)] { empty_into(*group, *into); },
                 std::move(done));
}

void Mover::remove(std::shared_ptr<const cgroup::Leaf> group) {
  if (group == nullptr) return;
  worker_.submit(
      [group = std::move(group)] {
        [[maybe_unused]] const auto removed = cgroup::remove_group(*group);
      },
      [] {});
}

}  // namespace plimsoll::supervisor
