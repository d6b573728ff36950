#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

#include "base/result.h"
#include "cgroup/hierarchies.h"
#include "cgroup/limits.h"
#include "cgroup/run_tree.h"
#include "guardian/guardian.h"
#include "guardian/protocol.h"
#include "loop/loop.h"
#include "loop/worker.h"
#include "measure/network.h"

namespace plimsoll::engine {

struct MachineConfig {
  std::string run_id;                      // new_run_id()
  std::optional<std::string> cgroup_path;  // --cgroup or PLIMSOLL_CGROUP
  cgroup::ControllerSet controllers;       // that limits of jobs ask for, beside those always used
};

// An id for a run that starts now: "20261121-035916-3f2a".
std::string new_run_id(WallTime now);

// What a child's owner is told; each at most once, `failed` or the two others.
struct ChildCallbacks {
  std::function<void(guardian::Started)> started;
  std::function<void(const guardian::StartFailed&)> failed;
  std::function<void(const guardian::Exited&)> exited;
};

// The real machine, as a run has it: the event loop, the guardian, the run's tree of groups.
//
// Invariant: the guardian knows of the tree before the first directory of it exists, so that
// nothing is left behind whenever this process dies.
class Machine {
 public:
  static Result<std::unique_ptr<Machine>> create(guardian::Link link, const MachineConfig& config);

  // A new group in the pool, with its limits set.
  [[nodiscard]] Result<cgroup::Leaf> make_group(const std::string& name, const Limits& limits);

  // Spawns through the guardian; `request.id` is filled in here. The callbacks come from the loop.
  Result<guardian::ChildId> spawn(guardian::SpawnRequest request, ChildCallbacks callbacks);
  // Nothing of this child will be told any more.
  void forget(guardian::ChildId child) { children_.erase(child); }

  void on_signal(std::function<void(const guardian::Signalled&)> callback);
  void on_resumed(std::function<void()> callback);
  // The guardian stops itself, as the shell expects after Ctrl-Z.
  void stop_guardian();

  // Waits for the next event and handles it; at most `timeout`, negative for ever. If the guardian
  // is gone, everything is reaped and an error returned, after which nothing runs any more.
  [[nodiscard]] Result<void> run_once(Duration timeout);

  [[nodiscard]] loop::Loop& loop() { return loop_; }
  [[nodiscard]] loop::Worker& worker() { return *worker_; }
  [[nodiscard]] const cgroup::Hierarchies& hierarchies() const { return hierarchies_; }
  [[nodiscard]] const cgroup::Group& pool() const { return *pool_; }
  [[nodiscard]] measure::Network& network() { return *network_; }

 private:
  Machine(loop::Loop loop, guardian::Link link);
  Result<void> make_tree(const MachineConfig& config);
  Result<cgroup::RunTree> make_run_group(const MachineConfig& config);
  Result<void> hand_over(const cgroup::RunTree* tree);
  Result<cgroup::Placement> place(const MachineConfig& config, const std::string& name);
  void take_messages();
  void handle(guardian::FromGuardian message);
  Result<void> reap_after_guardian();
  void attach_network();

  loop::Loop loop_;
  guardian::Link link_;
  std::unique_ptr<loop::Worker> worker_;
  loop::Watch guardian_watch_;
  cgroup::Hierarchies hierarchies_;
  cgroup::ControllerSet wanted_;
  cgroup::Placement placement_;
  std::string tree_name_;
  std::optional<cgroup::RunTree> tree_;
  cgroup::Inner* pool_ = nullptr;  // of tree_
  std::optional<measure::Network> network_;
  std::unordered_map<guardian::ChildId, ChildCallbacks> children_;
  std::uint64_t last_child_ = 0;
  std::function<void(const guardian::Signalled&)> on_signal_;
  std::function<void()> on_resumed_;
  bool guardian_gone_ = false;
};

}  // namespace plimsoll::engine
