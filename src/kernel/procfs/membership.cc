#include "kernel/procfs/membership.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "base/text.h"

namespace plimsoll::procfs {
namespace {

std::vector<std::string_view> words(std::string_view value) {
  std::vector<std::string_view> found;
  while (!value.empty()) {
    const std::string_view word = take_until(value, ' ');
    if (!word.empty()) found.push_back(word);
  }
  return found;
}

std::string to_text(const Id& id) {
  return std::to_string(id.pid) + "." + std::to_string(id.start);
}

std::optional<Id> parse_id(std::string_view text) {
  const auto pid = to_u64(take_until(text, '.'));
  const auto start = to_u64(text);
  if (!pid || !start || *pid == 0 || *pid > std::numeric_limits<int>::max()) return std::nullopt;
  return Id{.pid = static_cast<int>(*pid), .start = *start};
}

}  // namespace

std::string to_text(const EnvTag& mark) {
  return mark.run + "/" + std::to_string(mark.space) + "/" + to_text(mark.guardian) + "/" +
         to_text(mark.supervisor) + "/" + mark.job;
}

std::optional<EnvTag> parse_tag(std::string_view word) {
  const std::string_view run = take_until(word, '/');
  const auto space = to_u64(take_until(word, '/'));
  const auto guardian = parse_id(take_until(word, '/'));
  const auto supervisor = parse_id(take_until(word, '/'));
  const bool is_plain = !word.empty() && word.find('/') == std::string_view::npos;
  if (run.empty() || !space || !guardian || !supervisor || !is_plain) return std::nullopt;
  return EnvTag{.run = std::string(run),
                .space = *space,
                .guardian = *guardian,
                .supervisor = *supervisor,
                .job = std::string(word)};
}

std::string with_tag(std::string_view inherited, const EnvTag& mark) {
  std::vector<std::string_view> marks = words(inherited);
  if (marks.size() >= kMarksMax) {
    marks.erase(marks.begin(), marks.end() - static_cast<std::ptrdiff_t>(kMarksMax - 1));
  }
  std::string value;
  for (const std::string_view word : marks) value.append(word).append(" ");
  return value + to_text(mark);
}

bool is_same_run(const EnvTag& a, const EnvTag& b) {
  return a.run == b.run && a.space == b.space && a.guardian == b.guardian &&
         a.supervisor == b.supervisor;
}

std::optional<EnvTag> find_mark(std::string_view value, const EnvTag& mark) {
  for (const std::string_view word : words(value)) {
    auto found = parse_tag(word);
    if (found && is_same_run(*found, mark)) return found;
  }
  return std::nullopt;
}

std::optional<EnvTag> last_mark(std::string_view value) {
  const auto marks = words(value);
  return marks.empty() ? std::nullopt : parse_tag(marks.back());
}

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

bool Membership::left_nobody(FamilyId id) {
  Family& family = families_.at(id);
  if (family.has_adopted) return false;
  family.members.clear();
  return true;
}

void Membership::end(FamilyId id) {
  families_.erase(id);
  for (auto& [process, family] : known_) {
    if (family == id) family = kStrays;
  }
}

void Membership::adopt(FamilyId id, const std::vector<Stat>& processes) {
  Family& family = families_.at(id);
  family.expects_birth = false;
  family.has_adopted = true;
  for (const Stat& stat : processes) {
    if (const auto before = family_of(stat.id)) families_.at(*before).members.erase(stat.id.pid);
    known_[stat.id] = id;
    family.members.insert_or_assign(stat.id.pid, stat);
  }
}

void Membership::give(FamilyId from, FamilyId to) {
  Family& giving = families_.at(from);
  Family& taking = families_.at(to);
  taking.members.merge(giving.members);
  giving.members.clear();
  taking.has_adopted = true;
  taking.sessions.merge(giving.sessions);
  giving.sessions.clear();
  for (auto& [process, family] : known_) {
    if (family == from) family = to;
  }
}

std::optional<FamilyId> Membership::family_of(const Id& process) const {
  const auto known = known_.find(process);
  return known == known_.end() ? std::nullopt : std::optional(known->second);
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
  const EnvTag ours{config_.run, config_.space, config_.guardian, config_.supervisor, {}};
  const auto mark = value ? find_mark(*value, ours) : std::nullopt;
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
