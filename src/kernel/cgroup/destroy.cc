#include "kernel/cgroup/destroy.h"

#include <fcntl.h>
#include <poll.h>

#include <cstdint>
#include <utility>

#include "base/file.h"
#include "kernel/cgroup/backoff.h"
#include "kernel/cgroup/processes.h"
#include "kernel/cgroup/remove.h"

namespace plimsoll::cgroup {
namespace {

// Makes the next poll(2) wait for a change after this moment. False if there is nothing to wait on.
bool arm(const UniqueFd& events) {
  std::string text;
  return events && read_text_into(events.get(), text);
}

void sleep_until_change(int events_fd, Duration wait) {
  pollfd watched{.fd = events_fd, .events = POLLPRI, .revents = 0};
  const auto ms = std::chrono::ceil<std::chrono::milliseconds>(wait).count();
  ::poll(&watched, 1, static_cast<int>(ms));
}

enum class Round : std::uint8_t { killed, held_back, refused, denied, gone };

// One round: kill if somebody lives there, else remove.
Round advance(const Group& group, Kill& kill, Instant now, std::optional<Error>& trouble) {
  const auto alive = populated(group, Scope::every_part);
  if (!alive || *alive) {
    KillStep step = kill.step(group, now);
    while (step.did == KillStep::Did::under_way) step = kill.step(group, now);
    trouble = std::move(step.trouble);
    return step.did == KillStep::Did::freezing ? Round::held_back : Round::killed;
  }
  auto removed = remove_group(group);
  if (removed) return *removed == Removal::done ? Round::gone : Round::refused;
  trouble = std::move(removed).error();
  return is_final(*trouble) ? Round::denied : Round::refused;
}

// Whether `path` is `above` or lies below it.
bool is_at_or_below(const std::string& path, const std::string& above) {
  return path.starts_with(above) && (path.size() == above.size() || path[above.size()] == '/');
}

std::string without_last_slashes(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

Result<void> add_parent(const Hierarchy& hierarchy, const std::string& directory,
                        ReapTarget& target) {
  const std::string own = hierarchy.directory_of(hierarchy.own_path);
  if (is_at_or_below(own, directory)) {
    return fail(directory + " contains this command itself; it is not reaped");
  }
  const std::size_t slash = directory.rfind('/');
  auto parent = Directory::open(directory.substr(0, slash), hierarchy.version);
  if (!parent) return pass(std::move(parent));
  const std::string name = directory.substr(slash + 1);
  if (auto group = parent->open_child(name); !group) return pass(std::move(group));
  target.parents.push_back({std::move(*parent), hierarchy.controllers});
  target.name = name;
  return {};
}

}  // namespace

Result<Group> open_group(const std::vector<Group::Part>& parents, const std::string& name) {
  std::vector<Group::Part> parts;
  for (const Group::Part& parent : parents) {
    auto directory = parent.directory.open_child(name);
    if (directory) {
      parts.push_back({std::move(*directory), parent.controllers});
    } else if (!directory.error().gone()) {
      return pass(std::move(directory));
    }
  }
  return Group(name, std::move(parts));
}

Remains destroy(const std::vector<Group::Part>& parents, const std::string& name, Instant deadline,
                Instant (*clock)(), KillWay way) {
  Remains remains;
  auto group = open_group(parents, name);
  if (!group) {
    remains.trouble = std::move(group).error();
    return remains;
  }
  UniqueFd events;
  if (group->v2() != nullptr) {
    if (auto fd = group->v2()->open_file("cgroup.events", O_RDONLY)) events = std::move(*fd);
  }
  Kill kill(way);
  Backoff backoff;
  Round round = Round::killed;
  for (;;) {
    // Before the look, so that what changes after it is not slept through.
    const bool armed = arm(events);
    const Round before = std::exchange(round, advance(*group, kill, clock(), remains.trouble));
    if (round == Round::gone) return Remains{.gone = true, .processes = {}, .trouble = {}};
    if (round == Round::denied) return remains;
    if (before == Round::held_back && round != Round::held_back) backoff = {};
    const Duration left = deadline - clock();
    if (left <= Duration::zero()) {
      remains.processes = stuck_processes(*group);
      return remains;
    }
    sleep_until_change(armed ? events.get() : -1, std::min(backoff.next(), left));
  }
}

Result<ReapTarget> find_reap_target(const Hierarchies& hierarchies, const std::string& path) {
  const std::string plain = without_last_slashes(path);
  if (plain.empty() || plain.find("/../") != std::string::npos || plain.ends_with("/..")) {
    return fail("\"" + path + "\" is not the path of a cgroup");
  }
  ReapTarget target;
  for (const Hierarchy& hierarchy : hierarchies.all) {
    if (!is_at_or_below(plain, hierarchy.mount_point)) continue;
    if (plain == hierarchy.mount_point) return fail(path + " is the root of a hierarchy");
    if (auto added = add_parent(hierarchy, plain, target); !added) return pass(std::move(added));
    return target;
  }
  if (plain == "/") return fail("/ is the root of every hierarchy");
  const std::string below = plain.starts_with('/') ? plain : "/" + plain;
  for (const Hierarchy& hierarchy : hierarchies.all) {
    auto added = add_parent(hierarchy, hierarchy.mount_point + below, target);
    if (!added && !added.error().gone()) return pass(std::move(added));
  }
  if (target.parents.empty()) return fail("there is no cgroup " + path + " in any hierarchy");
  return target;
}

}  // namespace plimsoll::cgroup
