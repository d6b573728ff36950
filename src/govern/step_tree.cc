#include "govern/step_tree.h"

#include <algorithm>

namespace plimsoll::govern {

void StepTree::set_root(const Exec& exec) {
  root_ = exec.process;
  root_may_hold_tokens_ = may_hold_tokens(exec);
  const bool governs = drivers_.role_of(exec) == Role::governor;
  set(exec.process, governs ? Kind::governor : Kind::lasting_driver);
}

void StepTree::set(const procfs::Id& id, Kind kind) {
  nodes_[id.pid] = {.id = id, .kind = kind};
  sweep();
}

// A number may be another process's by now.
StepTree::Node* StepTree::node(const procfs::Id& id) {
  const auto found = nodes_.find(id.pid);
  return found == nodes_.end() || found->second.id != id ? nullptr : &found->second;
}

// Those in between have executed nothing that was told, as a shell's subshell has not.
StepTree::Node* StepTree::node_above(const Exec& exec) {
  int pid = exec.parent;
  for (int depth = 0; depth < kDepthMax && pid > 1; ++depth) {
    const auto process = lookup_.find(pid);
    if (!process) return nullptr;
    if (Node* found = node(process->id)) return found;
    pid = process->parent;
  }
  return nullptr;
}

Meaning StepTree::exec(const Exec& exec) {
  const Node* own = node(exec.process);
  if (own != nullptr && own->kind == Kind::lasting_driver) {
    if (exec.process == root_) root_may_hold_tokens_ = may_hold_tokens(exec);
    if (drivers_.role_of(exec) == Role::governor) set(exec.process, Kind::governor);
    return {};
  }
  if (own != nullptr && own->kind == Kind::driver) return exec_below_driver(exec);
  const Node* above = own != nullptr ? own : node_above(exec);
  if (above == nullptr) {
    // Whoever has lost its parent is known by its group.
    const auto step = lookup_.step_of(exec.process.pid);
    return step && steps_.contains(*step) ? exec_in_step(*step, exec) : exec_below_driver(exec);
  }
  switch (above->kind) {
    case Kind::driver:
    case Kind::lasting_driver: return exec_below_driver(exec);
    case Kind::step: return exec_in_step(*above->step, exec);
    case Kind::governor: return {};
  }
  return {};
}

Meaning StepTree::exec_below_driver(const Exec& exec) {
  const Role role = drivers_.role_of(exec);
  if (role == Role::governor && exec.is_done) {
    // It may have groups for its jobs by now, below the one that it was started in.
    set(exec.process, Kind::governor);
    return {};
  }
  if (role != Role::driver && !shows_runs(exec)) {
    nodes_.erase(exec.process.pid);
    return {.what = Meaning::What::begins};
  }
  set(exec.process, is_inner_govern(exec) ? Kind::lasting_driver : Kind::driver);
  return {};
}

Meaning StepTree::exec_in_step(JobId step, const Exec& exec) {
  Step& within = steps_.at(step);
  // What that governs stays in the groups that it has given it.
  if (has_governor(within)) return {.what = Meaning::What::goes_on, .step = step};
  const auto parent = within.inside.find(exec.parent);
  const bool is_sealed = parent != within.inside.end() && parent->second.role == Role::sealed;
  const Role role = is_sealed ? Role::sealed : drivers_.role_of(exec);
  if (role == Role::driver) {
    release(step, exec);
    set(exec.process, is_inner_govern(exec) ? Kind::lasting_driver : Kind::driver);
    return {.what = Meaning::What::nothing, .released = step};
  }
  if (starts_several(within, exec)) {
    release(step, exec);
    return {.what = Meaning::What::begins, .released = step};
  }
  if (within.inside.size() < kInsideMax || within.inside.contains(exec.process.pid)) {
    within.inside[exec.process.pid] = {.id = exec.process, .parent = exec.parent, .role = role};
  }
  return {.what = Meaning::What::goes_on, .step = step};
}

bool StepTree::has_governor(const Step& step) {
  return std::any_of(step.inside.begin(), step.inside.end(), [this](const auto& entry) {
    const Inside& each = entry.second;
    if (each.role != Role::governor) return false;
    const auto now = lookup_.find(each.id.pid);
    return now && now->id == each.id;
  });
}

// Whether the parent has another child that lives and has executed something, and is not known to
// be one step with all of its children. A parent that has executed nothing itself is a shell's
// subshell.
bool StepTree::starts_several(const Step& step, const Exec& exec) {
  const auto parent = step.inside.find(exec.parent);
  if (parent == step.inside.end() || parent->second.role != Role::unknown) return false;
  return std::any_of(step.inside.begin(), step.inside.end(), [&](const auto& entry) {
    const Inside& other = entry.second;
    if (other.parent != exec.parent || other.id == exec.process) return false;
    const auto now = lookup_.find(other.id.pid);
    return now && now->id == other.id && now->parent == exec.parent;
  });
}

// Whoever is above the process in the step is a driver as well.
void StepTree::release(JobId step, const Exec& exec) {
  const procfs::Id main = steps_.at(step).main;
  ended(step);
  set(main, Kind::driver);
  int pid = exec.parent;
  for (int depth = 0; depth < kDepthMax && pid > 1 && pid != main.pid; ++depth) {
    const auto process = lookup_.find(pid);
    if (!process || node(process->id) != nullptr) return;
    set(process->id, Kind::driver);
    pid = process->parent;
  }
}

void StepTree::begun(JobId step, const Exec& exec) {
  nodes_[exec.process.pid] = {.id = exec.process, .kind = Kind::step, .step = step};
  Step& record = steps_[step];
  record.main = exec.process;
  record.inside[exec.process.pid] = {
      .id = exec.process, .parent = exec.parent, .role = drivers_.role_of(exec)};
}

void StepTree::ended(JobId step) {
  const auto found = steps_.find(step);
  if (found == steps_.end()) return;
  const auto main = nodes_.find(found->second.main.pid);
  if (main != nodes_.end() && main->second.step == step) nodes_.erase(main);
  steps_.erase(found);
}

std::vector<procfs::Id> StepTree::inside(JobId step) const {
  std::vector<procfs::Id> processes;
  const auto found = steps_.find(step);
  if (found == steps_.end()) return processes;
  for (const auto& [pid, each] : found->second.inside) {
    if (each.id != found->second.main) processes.push_back(each.id);
  }
  return processes;
}

std::set<procfs::Id> StepTree::others(JobId step) const {
  std::set<procfs::Id> others;
  for (const auto& [pid, each] : nodes_) {
    if (each.step != step) others.insert(each.id);
  }
  return others;
}

std::optional<std::size_t> StepTree::drivers_below() {
  forget_the_dead();
  if (root_may_hold_tokens_) return std::nullopt;
  std::size_t drivers = 0;
  for (const auto& [pid, each] : nodes_) {
    if (each.kind == Kind::governor) return std::nullopt;
    if (each.kind != Kind::step && each.id != root_) ++drivers;
  }
  return drivers;
}

void StepTree::sweep() {
  if (nodes_.size() < sweep_at_) return;
  forget_the_dead();
  sweep_at_ = std::max(kSweepFrom, 2 * nodes_.size());
}

// Of drivers nobody tells that they have ended.
void StepTree::forget_the_dead() {
  std::erase_if(nodes_, [this](const auto& entry) {
    const Node& each = entry.second;
    if (each.kind == Kind::step) return false;
    const auto now = lookup_.find(each.id.pid);
    return !now || now->id != each.id;
  });
}

}  // namespace plimsoll::govern
