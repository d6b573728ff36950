#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "base/result.h"
#include "policy/job/tenant.h"

namespace plimsoll::supervisor {

// How many of something each user may have, and all together. The host has as much room as all
// others together, whatever they have: who owns the machine is always heard.
class Quota {
 public:
  struct Bounds {
    std::size_t of_user = 0;
    std::size_t in_all = 0;
  };
  // `what` there are so many of, in the plural, for people.
  Quota(std::string what, Bounds bounds) : what_(std::move(what)), bounds_(bounds) {}

  // Whether there is room for one more of this user; not_enough_memory: how many were found.
  [[nodiscard]] Result<void> check(policy::Tenant user) const;
  // check() has said so.
  void take(policy::Tenant user);
  void give_back(policy::Tenant user);

 private:
  [[nodiscard]] std::size_t of(policy::Tenant user) const;

  std::string what_;
  Bounds bounds_;
  std::map<policy::Tenant, std::size_t> of_user_;  // none is 0
  std::size_t of_others_ = 0;                      // of all but the host
};

}  // namespace plimsoll::supervisor
