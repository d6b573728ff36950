#include "supervisor/processes/mover.h"

#include <string>
#include <utility>
#include <vector>

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

Result<void> move_in(const Newcomer& process, const cgroup::Leaf& into) {
  std::vector<int> family;
  if (process.below == Below::come) family = procfs::family_of(process.pid);
  if (procfs::has_ended(process.pidfd.get())) {
    return fail(std::errc::no_such_process, "move process " + std::to_string(process.pid));
  }
  auto moved = cgroup::move_process(into, process.pid);
  if (moved) move_all(family, into);
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
