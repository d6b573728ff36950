#include "supervisor/external/process_snapshot.h"

#include <utility>

#include "base/may_wait.h"

namespace plimsoll::supervisor {
namespace {

// By the parent's number.
using Children = std::unordered_map<int, std::vector<int>>;

// Those of `members` that still live, and their descendants.
std::map<int, procfs::Stat> living_of(const std::map<int, procfs::Stat>& members,
                                      const procfs::Table& table, const Children& children) {
  std::map<int, procfs::Stat> living;
  std::vector<int> parents;
  for (const auto& [pid, known] : members) {
    const auto place = table.find(pid);
    if (place == table.end() || place->second.id != known.id) continue;
    living.emplace(pid, place->second);
    parents.push_back(pid);
  }
  while (!parents.empty()) {
    const auto born = children.find(parents.back());
    parents.pop_back();
    if (born == children.end()) continue;
    for (const int pid : born->second) {
      if (living.emplace(pid, table.at(pid)).second) parents.push_back(pid);
    }
  }
  return living;
}

}  // namespace

void ProcessReading::read(Instant now) {
  may_wait("ProcessReading::read");
  const auto table = proc_.read_table();
  has_failed_ = !table;
  if (has_failed_) return;
  Children children;
  for (const auto& [pid, stat] : *table) children[stat.parent].push_back(pid);
  for (const Look& look : looks_) {
    look.followed->members = living_of(look.followed->members, *table, children);
    look.followed->meter.look(proc_, look.followed->members, now);
  }
}

Result<std::shared_ptr<ProcessSnapshot>> ProcessSnapshot::open() {
  auto proc = procfs::ProcDir::open();
  if (!proc) return pass(std::move(proc));
  return std::shared_ptr<ProcessSnapshot>(new ProcessSnapshot(std::move(*proc)));
}

std::shared_ptr<ProcessFamily> ProcessSnapshot::follow(const procfs::Stat& first) {
  auto family = std::make_shared<ProcessFamily>();
  family->members.emplace(first.id.pid, first);
  auto followed = std::make_shared<ProcessReading::Followed>();
  followed->members = family->members;
  looks_.push_back({.family = family, .followed = std::move(followed)});
  return family;
}

bool ProcessSnapshot::has_families() {
  std::erase_if(looks_, [](const auto& look) { return look.family.expired(); });
  return !looks_.empty();
}

ProcessReading ProcessSnapshot::begin() {
  std::erase_if(looks_, [](const auto& look) { return look.family.expired(); });
  return {proc_, ++begun_, looks_};
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
