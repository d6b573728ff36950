#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "policy/job/job.h"
#include "policy/job/tenant.h"

namespace plimsoll::policy {

// Caps by class (`--cap`): at most so many jobs of a class run at once, however much would fit. A
// job takes a place of its class before it comes to the governor, and has it until it has run or
// is withdrawn. Without a place it stands aside. A place that becomes free goes to the user who
// holds the fewest, there to the highest priority, then to the first of the input.
//
// Pure. Each call is O(log n) in the jobs of the class, leave() besides O(places + users).
class ClassCaps {
 public:
  using ByClass = std::map<std::string, unsigned>;  // each at least 1

  explicit ClassCaps(const ByClass& caps);

  // No more than `most` of this class from now on; an earlier, lower cap stays.
  void cap(const std::string& job_class, unsigned most);
  // The cap of the class; nothing: it has none.
  [[nodiscard]] std::optional<unsigned> of(const std::string& job_class) const;

  struct Claim {
    JobId job{};
    Tenant tenant = kHost;
    int priority = 0;
  };
  // Whether the job has a place of its class: it had one already, it gets one, or the class has no
  // cap. If not it stands aside.
  [[nodiscard]] bool take(const std::string& job_class, const Claim& claim);
  // The job gives up its place, or stands aside no longer. If somebody has the place now: who.
  [[nodiscard]] std::optional<JobId> leave(const std::string& job_class, JobId job);

  // So many stand aside.
  [[nodiscard]] std::size_t aside() const { return aside_; }

 private:
  using Turn = std::pair<int, JobId>;  // lowest first: the priority negated, then the input
  struct Class {
    unsigned most = 0;
    std::map<JobId, Tenant> places;
    std::map<Tenant, std::set<Turn>> waiting;
    std::map<JobId, std::pair<Tenant, Turn>> found;  // those that wait, by job
  };

  // Whose turn it is, with the place. Nothing: nobody waits, or no place is free.
  std::optional<JobId> next(Class& of);

  std::map<std::string, Class> classes_;  // that have a cap
  std::size_t aside_ = 0;
};

}  // namespace plimsoll::policy
