#include "kernel/procfs/membership.h"

#include <algorithm>

namespace plimsoll::procfs {

Membership::Membership(Config config) : config_(std::move(config)) { families_[kStrays]; }

FamilyId Membership::begin(const std::string& job) {
  const FamilyId id{++last_};
  Family& family = families_[id];
  family.job = job;
  family.expects_birth = true;
  return id;
}

void Membership::born(FamilyId id, int main) {
  Family& family = families_.at(id);
  family.expects_birth = false;
  family.main = main;
}

void Membership::main_ended(FamilyId id) {
  Family& family = families_.at(id);
  family.expects_birth = false;
  family.main.reset();
}

void Membership::end(FamilyId id) {
  families_.erase(id);
  for (auto& [process, family] : known_) {
    if (family == id) family = kStrays;
  }
}

const std::map<int, Stat>& Membership::members(FamilyId family) const {
  return families_.at(family).members;
}

bool Membership::is_populated(FamilyId id) const {
  const Family& family = families_.at(id);
  return family.expects_birth || family.main || !family.members.empty();
}

std::vector<FamilyId> Membership::families() const {
  std::vector<FamilyId> ids;
  for (const auto& [id, family] : families_) ids.push_back(id);
  return ids;
}

// A session or a mark of ours.
std::optional<FamilyId> Membership::by_trace(const Stat& stat, TagReader& tags) {
  for (const auto& [id, family] : families_) {
    if (family.sessions.contains(stat.session)) return id;
  }
  if (unmarked_.contains(stat.id)) return std::nullopt;
  const auto value = tags.tag_of(stat.id.pid);
  const auto mark = value ? find_mark(*value, config_.run) : std::nullopt;
  if (!mark) {
    if (!guardian_lives_) unmarked_.insert(stat.id);
    return std::nullopt;
  }
  for (const auto& [id, family] : families_) {
    if (id != kStrays && family.job == mark->job) return id;
  }
  return kStrays;
}

Membership::Owner Membership::owner_of_orphan(const Stat& stat, TagReader& tags) {
  if (const auto traced = by_trace(stat, tags)) return traced;
  if (!config_.foreign.empty()) return std::nullopt;
  // It may be the one that is being born, which bears no mark before its exec.
  const auto expects = [](const auto& entry) { return entry.second.expects_birth; };
  if (std::any_of(families_.begin(), families_.end(), expects)) return std::nullopt;
  const bool is_sole = families_.size() == 2;  // with that of the strays
  return is_sole ? families_.rbegin()->first : kStrays;
}

// What needs no look at the parent; nothing if the parent decides.
std::optional<Membership::Owner> Membership::owner_by_itself(const Stat& stat, TagReader& tags) {
  if (stat.id == config_.guardian || stat.id == config_.supervisor) return Owner();
  if (const auto known = known_.find(stat.id); known != known_.end()) return known->second;
  const auto is_this = [&stat](const Id& id) { return id == stat.id; };
  if (std::any_of(config_.foreign.begin(), config_.foreign.end(), is_this)) return Owner();
  if (!guardian_lives_ || stat.parent != config_.guardian.pid) return std::nullopt;
  for (const auto& [id, family] : families_) {
    if (family.main == stat.id.pid) return id;
  }
  return owner_of_orphan(stat, tags);
}

Membership::Owner Membership::owner_of(const Stat& stat, const Table& table, TagReader& tags,
                                       std::map<int, Owner>& found) {
  std::vector<const Stat*> way;  // from the process up to one whose owner is known
  Owner owner;
  for (const Stat* at = &stat;;) {
    if (const auto seen = found.find(at->id.pid); seen != found.end()) {
      owner = seen->second;
      break;
    }
    // Till it is known: a table is read while processes come and go, and may go in circles.
    found[at->id.pid] = std::nullopt;
    if (const auto decided = owner_by_itself(*at, tags)) {
      owner = found[at->id.pid] = *decided;
      break;
    }
    way.push_back(at);
    const auto parent = table.find(at->parent);
    if (parent == table.end()) break;
    at = &parent->second;
  }
  for (auto at = way.rbegin(); at != way.rend(); ++at) {
    if (!owner && !guardian_lives_) owner = by_trace(**at, tags);
    found[(*at)->id.pid] = owner;
  }
  return owner;
}

void Membership::take(const Table& table, TagReader& tags) {
  std::map<int, Owner> found;
  for (auto& [id, family] : families_) family.members.clear();
  std::map<Id, FamilyId> known;
  for (const auto& [pid, stat] : table) {
    const Owner owner = owner_of(stat, table, tags, found);
    if (!owner) continue;
    Family& family = families_.at(*owner);
    family.members.emplace(pid, stat);
    if (stat.session == pid) family.sessions.insert(pid);
    known.emplace(stat.id, *owner);
  }
  known_ = std::move(known);
  std::erase_if(unmarked_, [&table](const Id& id) {
    const auto entry = table.find(id.pid);
    return entry == table.end() || entry->second.id != id;
  });
}

}  // namespace plimsoll::procfs
