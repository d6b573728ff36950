#include "policy/scheduler/class_caps.h"

#include <algorithm>
#include <utility>

namespace plimsoll::policy {

ClassCaps::Turn ClassCaps::turn_of(const Claim& claim) {
  return {.is_job = !claim.is_command, .rank = -claim.priority, .job = claim.job};
}

ClassCaps::ClassCaps(const ByClass& caps) {
  for (const auto& [job_class, most] : caps) cap(job_class, most);
}

void ClassCaps::cap(const std::string& job_class, unsigned most) {
  const auto [found, is_new] = classes_.try_emplace(job_class);
  unsigned& now = found->second.most;
  now = is_new ? most : std::min(now, most);
}

std::optional<unsigned> ClassCaps::of(const std::string& job_class) const {
  const auto found = classes_.find(job_class);
  return found == classes_.end() ? std::nullopt : std::optional(found->second.most);
}

void ClassCaps::set_aside(Class& of, Tenant tenant, const Turn& turn) {
  of.found.emplace(turn.job, std::pair(tenant, turn));
  of.waiting[tenant].insert(turn);
}

bool ClassCaps::take(const std::string& job_class, const Claim& claim) {
  const auto found = classes_.find(job_class);
  if (found == classes_.end()) return true;
  Class& of = found->second;
  if (of.places.contains(claim.job)) return true;
  if (of.found.contains(claim.job)) return false;
  const Turn turn = turn_of(claim);
  if (of.has_room(turn.is_job)) {
    of.places.emplace(claim.job, Place{.tenant = claim.tenant, .turn = turn});
    return true;
  }
  set_aside(of, claim.tenant, turn);
  ++aside_;
  return false;
}

std::optional<JobId> ClassCaps::take_from_waiting(const std::string& job_class,
                                                  const Claim& command) {
  const auto known = classes_.find(job_class);
  if (known == classes_.end()) return std::nullopt;
  Class& of = known->second;
  const Place* last = nullptr;
  for (const auto& [job, place] : of.places) {
    const bool may_wait = place.turn.is_job && !place.runs && place.tenant == command.tenant;
    if (may_wait && (last == nullptr || place.turn > last->turn)) last = &place;
  }
  if (last == nullptr) return std::nullopt;
  const Turn put_off = last->turn;
  remove_waiting(of, command.job);
  of.places.erase(put_off.job);
  of.places.emplace(command.job, Place{.tenant = command.tenant, .turn = turn_of(command)});
  set_aside(of, command.tenant, put_off);
  return put_off.job;
}

void ClassCaps::begins(const std::string& job_class, JobId job) {
  const auto found = classes_.find(job_class);
  if (found == classes_.end()) return;
  const auto place = found->second.places.find(job);
  if (place != found->second.places.end()) place->second.runs = true;
}

// Whether it stood aside.
bool ClassCaps::remove_waiting(Class& of, JobId job) {
  const auto waits = of.found.extract(job);
  if (waits.empty()) return false;
  const auto& [tenant, turn] = waits.mapped();
  const auto turns = of.waiting.find(tenant);
  turns->second.erase(turn);
  if (turns->second.empty()) of.waiting.erase(turns);
  return true;
}

std::optional<JobId> ClassCaps::leave(const std::string& job_class, JobId job) {
  const auto found = classes_.find(job_class);
  if (found == classes_.end()) return std::nullopt;
  Class& of = found->second;
  if (remove_waiting(of, job)) {
    --aside_;
    return std::nullopt;
  }
  if (of.places.erase(job) == 0) return std::nullopt;
  of.lent.erase(job);
  return of.waiting.empty() ? std::nullopt : next(of);
}

std::optional<JobId> ClassCaps::lend(const std::string& job_class, JobId job) {
  const auto found = classes_.find(job_class);
  if (found == classes_.end() || !found->second.places.contains(job)) return std::nullopt;
  return found->second.lent.insert(job).second ? next(found->second) : std::nullopt;
}

void ClassCaps::take_back(const std::string& job_class, JobId job) {
  const auto found = classes_.find(job_class);
  if (found != classes_.end()) found->second.lent.erase(job);
}

std::optional<JobId> ClassCaps::next(Class& of) {
  std::map<Tenant, std::size_t> held;
  for (const auto& [job, place] : of.places) ++held[place.tenant];
  auto best = of.waiting.end();
  for (auto one = of.waiting.begin(); one != of.waiting.end(); ++one) {
    const Turn& first = *one->second.begin();
    // A cap that was lowered meanwhile leaves more in their places than there are.
    if (!of.has_room(first.is_job)) continue;
    if (best == of.waiting.end() ||
        std::pair(held[one->first], first) < std::pair(held[best->first], *best->second.begin())) {
      best = one;
    }
  }
  if (best == of.waiting.end()) return std::nullopt;
  const Tenant tenant = best->first;
  const Turn turn = *best->second.begin();
  remove_waiting(of, turn.job);
  --aside_;
  of.places.emplace(turn.job, Place{.tenant = tenant, .turn = turn});
  return turn.job;
}

}  // namespace plimsoll::policy
