#pragma once

#include <compare>
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
// holds the fewest, there to commands, the highest priority, then to the first of the input.
//
// What waits for a place must never be waited for by who has it. So a job that waits for its
// commands lends its place to commands: else two jobs could wait for ever, each for a command that
// needs the other's place. When it goes on there is one more for a while. And a command takes the
// place of a job that has not begun, which may wait for the end of the command's own.
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
    bool is_command = false;  // JobSpec::part_of
  };
  // Whether the job has a place of its class: it had one already, it gets one, or the class has no
  // cap. If not it stands aside.
  [[nodiscard]] bool take(const std::string& job_class, const Claim& claim);
  // A command that was to stand aside has the place of a job that has not begun: who stands aside
  // instead.
  [[nodiscard]] std::optional<JobId> take_from_waiting(const std::string& job_class,
                                                       const Claim& command);
  // Whoever has the place runs from now on.
  void begins(const std::string& job_class, JobId job);
  // The job gives up its place, or stands aside no longer. If somebody has the place now: who.
  [[nodiscard]] std::optional<JobId> leave(const std::string& job_class, JobId job);

  // The job has a place and waits for its commands, or goes on. Whoever has a place now: as above.
  [[nodiscard]] std::optional<JobId> lend(const std::string& job_class, JobId job);
  void take_back(const std::string& job_class, JobId job);

  // So many stand aside.
  [[nodiscard]] std::size_t aside() const { return aside_; }

 private:
  // Lowest first: commands, then by the priority negated, then the input.
  struct Turn {
    bool is_job = true;
    int rank = 0;
    JobId job{};
    auto operator<=>(const Turn&) const = default;
  };
  struct Place {
    Tenant tenant = kHost;
    Turn turn;
    bool runs = false;
  };
  struct Class {
    [[nodiscard]] bool has_room(bool is_job) const {
      return places.size() < most || (!is_job && places.size() - lent.size() < most);
    }

    unsigned most = 0;
    std::map<JobId, Place> places;
    std::set<JobId> lent;  // of `places`
    std::map<Tenant, std::set<Turn>> waiting;
    std::map<JobId, std::pair<Tenant, Turn>> found;  // those that wait, by job
  };

  static Turn turn_of(const Claim& claim);
  static void set_aside(Class& of, Tenant tenant, const Turn& turn);
  static bool remove_waiting(Class& of, JobId job);
  // Whose turn it is, with the place. Nothing: nobody waits, or no place is free.
  std::optional<JobId> next(Class& of);

  std::map<std::string, Class> classes_;  // that have a cap
  std::size_t aside_ = 0;
};

}  // namespace plimsoll::policy
