#include "supervisor/external/process_snapshot.h"

#include <utility>

namespace plimsoll::supervisor {

Result<std::shared_ptr<ProcessSnapshot>> ProcessSnapshot::open() {
  auto proc = procfs::ProcDir::open();
  if (!proc) return pass(std::move(proc));
  return std::shared_ptr<ProcessSnapshot>(new ProcessSnapshot(std::move(*proc)));
}

const procfs::Table& ProcessSnapshot::at(Instant now) {
  if (std::exchange(looked_, now) != now || reads_ == 0) afresh();
  return table_;
}

const procfs::Table& ProcessSnapshot::afresh() {
  ++reads_;
  auto table = proc_.read_table();
  // The last one stands until the next look.
  if (!table) return table_;
  table_ = std::move(*table);
  children_.clear();
  for (const auto& [pid, stat] : table_) children_[stat.parent].push_back(pid);
  return table_;
}

std::map<int, procfs::Stat> ProcessSnapshot::followed(
    const std::map<int, procfs::Stat>& members) const {
  std::map<int, procfs::Stat> living;
  std::vector<int> parents;
  for (const auto& [pid, known] : members) {
    const auto place = table_.find(pid);
    if (place == table_.end() || place->second.id != known.id) continue;
    living.emplace(pid, place->second);
    parents.push_back(pid);
  }
  while (!parents.empty()) {
    const auto born = children_.find(parents.back());
    parents.pop_back();
    if (born == children_.end()) continue;
    for (const int pid : born->second) {
      if (living.emplace(pid, table_.at(pid)).second) parents.push_back(pid);
    }
  }
  return living;
}

}  // namespace plimsoll::supervisor
