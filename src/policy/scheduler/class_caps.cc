#include "policy/scheduler/class_caps.h"

#include <algorithm>

namespace plimsoll::policy {

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

bool ClassCaps::take(const std::string& job_class, const Claim& claim) {
  const auto found = classes_.find(job_class);
  if (found == classes_.end()) return true;
  Class& of = found->second;
  if (of.places.contains(claim.job)) return true;
  if (of.places.size() < of.most) {
    of.places.emplace(claim.job, claim.tenant);
    return true;
  }
  const Turn turn(-claim.priority, claim.job);
  if (!of.found.emplace(claim.job, std::pair(claim.tenant, turn)).second) return false;
  of.waiting[claim.tenant].insert(turn);
  ++aside_;
  return false;
}

std::optional<JobId> ClassCaps::leave(const std::string& job_class, JobId job) {
  const auto found = classes_.find(job_class);
  if (found == classes_.end()) return std::nullopt;
  Class& of = found->second;
  if (const auto waits = of.found.extract(job)) {
    const auto& [tenant, turn] = waits.mapped();
    const auto turns = of.waiting.find(tenant);
    turns->second.erase(turn);
    if (turns->second.empty()) of.waiting.erase(turns);
    --aside_;
    return std::nullopt;
  }
  if (of.places.erase(job) == 0) return std::nullopt;
  return next(of);
}

std::optional<JobId> ClassCaps::next(Class& of) {
  // A cap that was lowered meanwhile leaves more in their places than there are.
  if (of.waiting.empty() || of.places.size() >= of.most) return std::nullopt;
  std::map<Tenant, std::size_t> held;
  for (const auto& [job, tenant] : of.places) ++held[tenant];
  const auto turns = std::min_element(of.waiting.begin(), of.waiting.end(),
                                      [&held](const auto& one, const auto& other) {
                                        return std::pair(held[one.first], *one.second.begin()) <
                                               std::pair(held[other.first], *other.second.begin());
                                      });
  const auto first = turns->second.begin();
  const JobId job = first->second;
  of.places.emplace(job, turns->first);
  of.found.erase(job);
  turns->second.erase(first);
  if (turns->second.empty()) of.waiting.erase(turns);
  --aside_;
  return job;
}

}  // namespace plimsoll::policy
