#include "kernel/procfs/process_scanner.h"

#include <csignal>

namespace plimsoll::procfs {
namespace {

class EnvironReader final : public TagReader {
 public:
  explicit EnvironReader(const ProcDir& proc) : proc_(proc) {}
  std::optional<std::string> tag_of(int pid) override {
    const auto environ = proc_.read(pid, "environ");
    if (!environ) return std::nullopt;
    const auto value = find_variable(*environ, kTagVariable);
    return value ? std::optional(std::string(*value)) : std::nullopt;
  }

 private:
  const ProcDir& proc_;
};

}  // namespace

Result<ProcessScanner> ProcessScanner::open(Membership::Config config) {
  auto proc = ProcDir::open();
  if (!proc) return pass(std::move(proc));
  return ProcessScanner(std::move(*proc), Membership(std::move(config)));
}

Result<void> ProcessScanner::look() {
  auto table = proc_.read_table();
  if (!table) return pass(std::move(table));
  table_ = std::move(*table);
  EnvironReader tags(proc_);
  membership_.take(table_, tags);
  return {};
}

Round ProcessScanner::stop(FamilyId family, std::set<Id>& stopped) {
  Round all;
  std::set<Id> sent;
  for (int round = 0; round < kStopRounds; ++round) {
    if (auto looked = look(); !looked) {
      if (!all.trouble) all.trouble = looked.error();
      break;
    }
    std::vector<Stat> fresh;
    for (const auto& [pid, stat] : membership_.members(family)) {
      if (stat.is_stopped() || !sent.insert(stat.id).second) continue;
      stopped.insert(stat.id);
      fresh.push_back(stat);
    }
    if (fresh.empty()) break;
    const Round one = send_to(proc_, fresh, SIGSTOP);
    all.sent += one.sent;
    if (!all.trouble) all.trouble = one.trouble;
  }
  return all;
}

Round ProcessScanner::kill(FamilyId family) {
  std::set<Id> stopped;
  stop(family, stopped);
  Round round = signal_all(family, SIGKILL);
  send_to_groups(proc_, table_, membership_.members(family), SIGKILL);
  return round;
}

void ProcessScanner::stop_known(FamilyId family, std::set<Id>& stopped) {
  std::vector<Stat> fresh;
  for (const auto& [pid, stat] : membership_.members(family)) {
    if (stat.is_stopped()) continue;
    stopped.insert(stat.id);
    fresh.push_back(stat);
  }
  send_to(proc_, fresh, SIGSTOP);
}

bool ProcessScanner::stop_again(const std::set<Id>& stopped) {
  std::vector<Stat> running;
  for (const Id& id : stopped) {
    const auto now = proc_.read_stat(id.pid);
    if (now && now->id == id && !now->is_stopped() && !now->is_dead()) running.push_back(*now);
  }
  send_to(proc_, running, SIGSTOP);
  return running.empty();
}

void ProcessScanner::resume(const std::set<Id>& stopped) {
  std::vector<Stat> targets;
  for (const Id& id : stopped) targets.push_back({.id = id, .comm = {}});
  send_to(proc_, targets, SIGCONT);
}

Round ProcessScanner::signal_all(FamilyId family, int signal) {
  std::vector<Stat> targets;
  for (const auto& [pid, stat] : membership_.members(family)) targets.push_back(stat);
  return send_to(proc_, targets, signal);
}

Result<Id> id_of(const ProcDir& proc, int pid) {
  auto stat = proc.read_stat(pid);
  if (!stat) return pass(std::move(stat));
  return stat->id;
}

Result<std::vector<Id>> children_of(const ProcDir& proc, int pid) {
  auto table = proc.read_table();
  if (!table) return pass(std::move(table));
  std::vector<Id> children;
  for (const auto& [child, stat] : *table) {
    if (stat.parent == pid) children.push_back(stat.id);
  }
  return children;
}

}  // namespace plimsoll::procfs
