#include "cgroup/sweep.h"

#include <algorithm>
#include <set>

#include "cgroup/run_removal.h"
#include "cgroup/run_tree.h"

namespace plimsoll::cgroup {
namespace {

// The locks of a run's directory in every hierarchy that has it; nothing if somebody holds one.
std::optional<std::vector<StaleRun>> claim(const std::vector<Group::Part>& bases,
                                           const std::string& name) {
  std::vector<StaleRun> claims;
  for (const Group::Part& base : bases) {
    auto claimed = StaleRun::claim(base.directory, name);
    if (!claimed && base.directory.open_child(name)) return std::nullopt;
    if (claimed) claims.push_back(std::move(*claimed));
  }
  return claims;
}

}  // namespace

bool has_stale_runs(const std::vector<Base>& bases) {
  return std::any_of(bases.begin(), bases.end(), [](const Base& base) {
    const auto names = runs_below(base.directory);
    return names && std::any_of(names->begin(), names->end(), [&base](const std::string& name) {
             return StaleRun::claim(base.directory, name).has_value();
           });
  });
}

std::vector<Swept> sweep(const std::vector<Group::Part>& bases, Instant deadline,
                         Instant (*clock)()) {
  std::set<std::string> names;
  for (const Group::Part& base : bases) {
    if (const auto found = runs_below(base.directory)) names.insert(found->begin(), found->end());
  }
  std::vector<Swept> swept;
  for (const std::string& name : names) {
    const auto claims = claim(bases, name);
    if (!claims) continue;
    swept.push_back({name, destroy_run(bases, name, -1, deadline, clock)});
  }
  return swept;
}

}  // namespace plimsoll::cgroup
