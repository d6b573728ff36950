#include "supervisor/external/process_snapshot.h"

#include <algorithm>
#include <string>
#include <unordered_set>
#include <utility>

#include "base/may_wait.h"

namespace plimsoll::supervisor {
namespace {

using ChildrenOf = std::unordered_map<int, std::vector<int>>;  // by the parent's number

// Adds the descendants of those in a family that are in none yet.
void take_below(const procfs::Table& table, const ChildrenOf& children,
                std::unordered_set<int>& taken, std::map<int, procfs::Stat>& family) {
  std::vector<int> parents;
  for (const auto& [pid, stat] : family) parents.push_back(pid);
  while (!parents.empty()) {
    const auto born = children.find(parents.back());
    parents.pop_back();
    if (born == children.end()) continue;
    for (const int pid : born->second) {
      if (!taken.insert(pid).second) continue;
      family.emplace(pid, table.at(pid));
      parents.push_back(pid);
    }
  }
}

// Adds those that were in it, live and are in no other by now.
void take_living(const std::map<int, procfs::Stat>& before, const procfs::Table& table,
                 std::unordered_set<int>& taken, std::map<int, procfs::Stat>& family) {
  for (const auto& [pid, known] : before) {
    const auto place = table.find(pid);
    if (place == table.end() || place->second.id != known.id) continue;
    if (taken.insert(pid).second) family.emplace(pid, place->second);
  }
}

}  // namespace

void ProcessReading::read(Instant now) {
  may_wait("ProcessReading::read");
  const auto table = proc_.read_table();
  has_failed_ = !table;
  if (has_failed_) return;
  ChildrenOf children;
  for (const auto& [pid, stat] : *table) children[stat.parent].push_back(pid);
  assign(*table, children);
  for (const Look& look : looks_) {
    look.followed->meter.look(proc_, not_measured(look.followed->members), now);
  }
}

// Whose groups nobody can tell any more has ended.
std::map<int, procfs::Stat> ProcessReading::not_measured(
    const std::map<int, procfs::Stat>& members) const {
  std::map<int, procfs::Stat> others = members;
  if (measured_.empty()) return others;
  std::erase_if(others, [this](const auto& member) {
    const auto groups = proc_.read(member.first, "cgroup");
    return groups && measured_.count(*groups);
  });
  return others;
}

// The first of each family, those below, then those that were left behind.
void ProcessReading::assign(const procfs::Table& table,
                            const std::unordered_map<int, std::vector<int>>& children) {
  std::unordered_set<int> taken;
  std::vector<std::map<int, procfs::Stat>> living(looks_.size());
  for (std::size_t i = 0; i < looks_.size(); ++i) {
    const procfs::Id& first = looks_[i].followed->first;
    const auto place = table.find(first.pid);
    if (place == table.end() || place->second.id != first) continue;
    living[i].emplace(first.pid, place->second);
    taken.insert(first.pid);
  }
  for (auto& family : living) take_below(table, children, taken, family);
  for (std::size_t i = 0; i < looks_.size(); ++i) {
    take_living(looks_[i].followed->members, table, taken, living[i]);
    take_below(table, children, taken, living[i]);
    looks_[i].followed->members = std::move(living[i]);
  }
}

Result<std::shared_ptr<ProcessSnapshot>> ProcessSnapshot::open() {
  auto proc = procfs::ProcDir::open();
  if (!proc) return pass(std::move(proc));
  return std::shared_ptr<ProcessSnapshot>(new ProcessSnapshot(std::move(*proc)));
}

Result<std::shared_ptr<ProcessFamily>> ProcessSnapshot::follow(const procfs::Stat& first) {
  const bool is_known = std::any_of(looks_.begin(), looks_.end(), [&first](const auto& look) {
    return look.followed->first == first.id && !look.family.expired();
  });
  if (is_known) {
    return fail(std::errc::permission_denied,
                "process " + std::to_string(first.id.pid) + " is the first of another job already");
  }
  auto family = std::make_shared<ProcessFamily>();
  family->members.emplace(first.id.pid, first);
  auto followed = std::make_shared<ProcessReading::Followed>();
  followed->first = first.id;
  followed->members = family->members;
  looks_.push_back({.family = family, .followed = std::move(followed)});
  return family;
}

bool ProcessSnapshot::has_families() {
  std::erase_if(looks_, [](const auto& look) { return look.family.expired(); });
  return !looks_.empty();
}

ProcessReading ProcessSnapshot::begin(MeasuredGroups measured) {
  std::erase_if(looks_, [](const auto& look) { return look.family.expired(); });
  return {proc_, ++begun_, looks_, std::move(measured)};
}

void ProcessSnapshot::take(const ProcessReading& reading) {
  if (reading.has_failed_) return;
  for (const ProcessReading::Look& look : reading.looks_) {
    const auto family = look.family.lock();
    if (!family) continue;
    family->members = look.followed->members;
    family->usage = look.followed->meter.usage();
    family->reading = reading.number_;
  }
}

}  // namespace plimsoll::supervisor
