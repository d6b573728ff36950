#include "supervisor/quota.h"

#include "base/check.h"

namespace plimsoll::supervisor {

std::size_t Quota::of(policy::Tenant user) const {
  const auto found = of_user_.find(user);
  return found == of_user_.end() ? 0 : found->second;
}

Result<void> Quota::check(policy::Tenant user) const {
  const bool is_host = user == policy::kHost;
  const std::size_t of_user_max = is_host ? bounds_.in_all : bounds_.of_user;
  if (of(user) < of_user_max && (is_host || of_others_ < bounds_.in_all)) return {};
  return fail(std::errc::not_enough_memory,
              "found " + std::to_string(of(user)) + " " + what_ + " of this user and " +
                  std::to_string(of_others_ + of(policy::kHost)) + " in all, expected fewer than " +
                  std::to_string(of_user_max) + " and " + std::to_string(bounds_.in_all));
}

void Quota::take(policy::Tenant user) {
  ++of_user_[user];
  if (user != policy::kHost) ++of_others_;
}

void Quota::give_back(policy::Tenant user) {
  const auto found = of_user_.find(user);
  PLIMSOLL_CHECK(found != of_user_.end());
  if (--found->second == 0) of_user_.erase(found);
  if (user != policy::kHost) --of_others_;
}

}  // namespace plimsoll::supervisor
