#include "supervisor/doctor/probes.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "base/file.h"
#include "base/quantity.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "kernel/cgroup/freeze.h"
#include "kernel/cgroup/group.h"
#include "kernel/cgroup/processes.h"
#include "supervisor/environment.h"
#include "supervisor/processes/child_observer.h"

namespace plimsoll::supervisor {
namespace {

using guardian::Birth;
using report::Check;
using report::CheckState;

// Self-tests of the kernel run on a process of their own, in a group of their own in the pool of a
// run: what they leave goes with the run.

// How long a probe waits for what takes well under a millisecond on an idle machine: an emulated
// one that reads the shell from a slow disk takes seconds.
constexpr Duration kProbePatience = std::chrono::seconds(10);

// A process that does nothing in a leaf until it is killed or this is destroyed.
class ProbeChild {
 public:
  // Through the guardian, as every job; returns when its program has started. The leaf must live as
  // long as this.
  static Result<ProbeChild> start(Supervisor& supervisor, const cgroup::Leaf& leaf);

  ProbeChild(ProbeChild&&) noexcept = default;
  ProbeChild& operator=(ProbeChild&&) = delete;
  ~ProbeChild();

  [[nodiscard]] guardian::Birth birth() const { return told_->started->birth; }

 private:
  // What the guardian has told so far.
  struct Told : ChildObserver {
    void on_started(guardian::Started with) override { started = std::move(with); }
    void on_start_failed(const guardian::StartFailed& failure) override { failed = failure; }
    void on_exited(const guardian::Exited& /*exited*/) override {}
    std::optional<guardian::Started> started;
    std::optional<guardian::StartFailed> failed;
  };

  ProbeChild(Supervisor& supervisor, guardian::ChildId child, std::unique_ptr<Told> told,
             UniqueFd input)
      : machine_(&supervisor), child_(child), told_(std::move(told)), input_(std::move(input)) {}

  Supervisor* machine_;
  guardian::ChildId child_;
  std::unique_ptr<Told> told_;  // null after being moved from
  UniqueFd input_;              // closing it ends the process
};

constexpr Duration kSpin = std::chrono::milliseconds(1);
constexpr Duration kTurn = std::chrono::milliseconds(1);

// Waits for its standard input to end, with nothing but what every job needs: the shell.
guardian::SpawnRequest waiting_shell(int input, int output) {
  guardian::SpawnRequest request;
  request.argv = {"/bin/sh", "-c", "read -r line"};
  request.env = environment_with({});
  request.cwd = "/";
  request.session = guardian::Session::own;
  request.descriptors = guardian::Descriptors::close;
  request.signals = guardian::Signals::set_default;
  request.stdio = {input, output, output};
  return request;
}

// Turns the machine's loop until `holds()`; false after kProbePatience. Looks without a pause in
// the first millisecond, so that short times come out right.
Result<bool> turn_until(Supervisor& supervisor, const std::function<bool()>& holds) {
  const Instant began = loop::now();
  while (!holds()) {
    const Duration waited = loop::now() - began;
    if (waited > kProbePatience) return false;
    if (auto ran = supervisor.run_once(waited < kSpin ? Duration{} : kTurn); !ran) {
      return pass(std::move(ran));
    }
  }
  return true;
}

Result<ProbeChild> ProbeChild::start(Supervisor& supervisor, const cgroup::Leaf& leaf) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return fail_errno("make a pipe");
  const UniqueFd input(ends[0]);
  UniqueFd keep(ends[1]);
  auto null = open_at(AT_FDCWD, "/dev/null", O_WRONLY);
  if (!null) return pass(std::move(null));

  guardian::SpawnRequest request = waiting_shell(input.get(), null->get());
  auto told = std::make_unique<Told>();
  Told* const note = told.get();
  auto child = supervisor.spawn_in(leaf, std::move(request), *note);
  if (!child) return pass(std::move(child));

  ProbeChild probe(supervisor, *child, std::move(told), std::move(keep));
  auto settled = turn_until(supervisor, [note] { return note->started || note->failed; });
  if (!settled) return pass(std::move(settled));
  if (!*settled) return fail(std::errc::timed_out, "start /bin/sh in a group");
  if (note->failed) {
    return fail(note->failed->code, "start /bin/sh in a group, step " +
                                        std::string(guardian::name_of(note->failed->step)));
  }
  return probe;
}

ProbeChild::~ProbeChild() {
  if (told_ != nullptr) machine_->forget(child_);
}

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
