#include "supervisor/doctor/probe_groups.h"

#include "base/quantity.h"
#include "kernel/cgroup/freeze.h"
#include "kernel/cgroup/processes.h"
#include "supervisor/doctor/probe_child.h"

namespace plimsoll::supervisor {
namespace {

using guardian::Birth;
using report::Check;
using report::CheckState;

constexpr const char* kSlowBirth =
    "each job is forked and then moved, which is usually as fast but sometimes 15 ms slower";
constexpr const char* kFixedKernel =
    "a kernel without this bug: Debian's 6.1.192 and 6.12.117 (6.1.176, 6.12.95 and 6.18.44 have "
    "it)";

Check no_freezer(std::string value) {
  return {.id = "freeze",
          .state = CheckState::missing,
          .value = std::move(value),
          .cost = "jobs cannot be paused: what does not fit is evicted",
          .remedy = "Linux 5.2 with cgroup v2, or the freezer controller of v1"};
}

// From asking for a state to being in it.
Result<std::optional<Duration>> time_until(Supervisor& supervisor, const cgroup::Directory& freezer,
                                           cgroup::FreezeState wanted, Instant asked) {
  auto reached = turn_until(supervisor, [&] {
    const auto state = cgroup::freeze_state(freezer);
    return state && *state == wanted;
  });
  if (!reached) return pass(std::move(reached));
  if (!*reached) return std::optional<Duration>();
  return std::optional<Duration>(loop::now() - asked);
}

Result<Check> probe_freeze(Supervisor& supervisor, const cgroup::Leaf& leaf) {
  const cgroup::Directory* freezer = cgroup::freezer_of(leaf);
  if (freezer == nullptr) return no_freezer("no freezer in a group's hierarchies");
  const Instant freezing = loop::now();
  auto guard = cgroup::FreezeGuard::freeze(leaf);
  if (!guard) return no_freezer(guard.error().message());
  auto frozen = time_until(supervisor, *freezer, cgroup::FreezeState::frozen, freezing);
  if (!frozen) return pass(std::move(frozen));
  if (!*frozen) return no_freezer("a sleeping process was not frozen in time");
  const Instant thawing = loop::now();
  if (auto asked = cgroup::thaw(*freezer); !asked) return no_freezer(asked.error().message());
  auto thawed = time_until(supervisor, *freezer, cgroup::FreezeState::thawed, thawing);
  if (!thawed) return pass(std::move(thawed));
  if (!*thawed) return no_freezer("a frozen process was not thawed in time");
  const bool is_v2 = freezer->version() == cgroup::Version::v2;
  return Check{.id = "freeze",
               .value = std::string(is_v2 ? "cgroup.freeze" : "freezer of v1") + ": frozen in " +
                        format_duration(**frozen) + ", thawed in " + format_duration(**thawed)};
}

Result<Check> probe_kill(Supervisor& supervisor, const cgroup::Leaf& leaf) {
  Check check{.id = "kill",
              .state = CheckState::degraded,
              .value = "no cgroup.kill: processes are signalled one by one, frozen if they fork",
              .cost = "ending a job of many processes takes longer",
              .remedy = "Linux 5.14 with a cgroup v2 tree"};
  const cgroup::Directory* v2 = leaf.v2();
  if (v2 == nullptr || !v2->has_file("cgroup.kill")) return check;
  const Instant asked = loop::now();
  if (auto wrote = v2->write("cgroup.kill", "1"); !wrote) {
    check.value = wrote.error().message();
    return check;
  }
  auto emptied = turn_until(supervisor, [&] {
    const auto alive = cgroup::populated(leaf, cgroup::Scope::every_part);
    return alive && !*alive;
  });
  if (!emptied) return pass(std::move(emptied));
  if (!*emptied) {
    check.value = "cgroup.kill did not end a sleeping process in time";
    return check;
  }
  return Check{.id = "kill",
               .value = "cgroup.kill: emptied a group in " + format_duration(loop::now() - asked)};
}

std::optional<Birth> birth_in(Supervisor& supervisor, const cgroup::Leaf& leaf) {
  const auto child = ProbeChild::start(supervisor, leaf);
  return child ? std::optional(child->birth()) : std::nullopt;
}

std::optional<Birth> birth_in_new_group(Supervisor& supervisor) {
  const auto leaf = supervisor.make_group("probe-neighbour", {});
  return leaf ? birth_in(supervisor, *leaf) : std::nullopt;
}

// A group is killed whole, with the groups below it, and then one of these gets a child.
std::optional<Birth> birth_below_killed(Supervisor& supervisor) {
  const auto parent = supervisor.make_group("probe-killed", {});
  if (!parent || parent->v2() == nullptr) return std::nullopt;
  auto below = parent->v2()->make_child("below");
  if (!below || !parent->v2()->write("cgroup.kill", "1")) return std::nullopt;
  std::vector<cgroup::Group::Part> parts;
  parts.push_back({std::move(*below), {}});
  return birth_in(supervisor, cgroup::Leaf("below", std::move(parts)));
}

}  // namespace

Check judge_spawn(const Births& births) {
  if (births.first == Birth::in_group) {
    return {.id = "spawn", .value = "clone3 starts jobs inside their group"};
  }
  Check check{.id = "spawn", .state = CheckState::degraded, .cost = kSlowBirth};
  if (births.v2) {
    check.value =
        "clone3 cannot start jobs inside their group: the call is forbidden here, or cgroup.kill "
        "was once written in the group that Plimsoll runs in";
    check.remedy =
        "a sandbox that allows clone3, or start Plimsoll in a group in which cgroup.kill was never "
        "written";
  } else {
    check.value = "jobs are forked and then moved: there is no v2 tree to start them in";
    check.remedy = "cgroup v2: see layout";
  }
  return check;
}

Check judge_spawn_after_kill(const Births& births) {
  Check check{.id = "spawn.after_kill"};
  if (births.after_neighbour == Birth::moved) {
    check.state = CheckState::degraded;
    check.value = "after one job was killed, clone3 into the next job's group fails";
    check.cost = kSlowBirth;
    check.remedy = kFixedKernel;
  } else if (births.below_killed == Birth::moved) {
    check.state = CheckState::degraded;
    check.value =
        "a child started by clone3 dies at once in a group in which cgroup.kill was ever written";
    check.cost =
        "none while each group is used only once, as Plimsoll does; if Plimsoll was started inside "
        "a group that was killed, it forks jobs and moves them";
    check.remedy = kFixedKernel;
  } else if (births.below_killed) {
    check.value = "clone3 still works in a group in which cgroup.kill was written";
  } else {
    check.value = "clone3 still works after another group was killed";
  }
  return check;
}

Result<std::vector<Check>> probe_groups(Supervisor& supervisor) {
  std::vector<Check> checks;
  Births births;
  const auto leaf = supervisor.make_group("probe-first", {});
  if (!leaf) return tl::unexpected(leaf.error());
  auto child = ProbeChild::start(supervisor, *leaf);
  if (!child) return pass(std::move(child));
  births.v2 = leaf->v2() != nullptr;
  births.first = child->birth();
  auto freeze = probe_freeze(supervisor, *leaf);
  if (!freeze) return pass(std::move(freeze));
  auto kill = probe_kill(supervisor, *leaf);
  if (!kill) return pass(std::move(kill));

  // Once the guardian has given up cloning into groups, later births say nothing.
  if (births.first == Birth::in_group) births.after_neighbour = birth_in_new_group(supervisor);
  if (births.after_neighbour == Birth::in_group)
    births.below_killed = birth_below_killed(supervisor);
  checks.push_back(judge_spawn(births));
  if (births.after_neighbour) checks.push_back(judge_spawn_after_kill(births));
  checks.push_back(std::move(*freeze));
  checks.push_back(std::move(*kill));
  return checks;
}

}  // namespace plimsoll::supervisor
