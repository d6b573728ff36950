#include "supervisor/mover.h"

#include <utility>

#include "kernel/cgroup/processes.h"
#include "kernel/cgroup/remove.h"

namespace plimsoll::supervisor {
namespace {

Result<void> move_all(const std::vector<int>& pids, const cgroup::Leaf& into) {
  Result<void> first{};
  for (const int pid : pids) {
    auto moved = cgroup::move_process(into, pid);
    const bool is_main = pid == pids.front();
    if (!moved && first && (is_main || !moved.error().gone())) first = std::move(moved);
  }
  return first;
}

void empty_into(const cgroup::Group& group, const cgroup::Leaf& into) {
  for (int round = 0; round < Mover::kRounds; ++round) {
    const auto pids = cgroup::processes_below(group);
    if (!pids || pids->empty()) return;
    [[maybe_unused]] const auto moved = move_all(*pids, into);
  }
}

}  // namespace

void Mover::move(std::vector<int> pids, std::shared_ptr<const cgroup::Leaf> into,
                 std::function<void(const Result<void>&)> done) {
  auto result = std::make_shared<Result<void>>();
  worker_.submit(
      [result, pids = std::move(pids), into = std::move(into)] { *result = move_all(pids, *into); },
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
