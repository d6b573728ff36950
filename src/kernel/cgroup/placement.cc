#include "kernel/cgroup/placement.h"

#include <fcntl.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "kernel/cgroup/group.h"
#include "kernel/cgroup/run_tree.h"
#include "kernel/cgroup/subtree.h"

namespace plimsoll::cgroup {
namespace {

// The components of a path; "" and "." fall out. Nothing if it would climb.
std::optional<std::vector<std::string>> components(std::string_view path) {
  std::vector<std::string> parts;
  while (!path.empty()) {
    const std::string_view part = take_until(path, '/');
    if (part.empty() || part == ".") continue;
    if (part == "..") return std::nullopt;
    parts.emplace_back(part);
  }
  return parts;
}

bool is_writable(const Directory& directory) {
  return ::faccessat(directory.fd(), ".", W_OK, AT_EACCESS) == 0;
}

// The root of a v2 tree has no cgroup.events, and processes in it don't keep its children from
// having controllers.
bool is_true_root(const Directory& v2) { return !v2.has_file("cgroup.events"); }

// A user's manager marks nothing, but has made this scope for us with Delegate=yes.
bool is_scope_of_a_run(const Directory& v2) {
  constexpr std::string_view kScope = ".scope";
  std::string_view name = v2.label();
  name.remove_prefix(name.rfind('/') + 1);
  return name.ends_with(kScope) && is_run_name(name.substr(0, name.size() - kScope.size()));
}

bool systemd_runs() { return ::access("/run/systemd/system", F_OK) == 0; }

bool only_ours(const Directory& v2, const std::vector<int>& own_pids) {
  const auto pids = read_pids(v2);
  return pids && std::all_of(pids->begin(), pids->end(), [&own_pids](int pid) {
           return std::find(own_pids.begin(), own_pids.end(), pid) != own_pids.end();
         });
}

bool serves_as_base(const Directory& v2, const std::vector<int>& own_pids) {
  if (!is_writable(v2)) return false;
  if (is_true_root(v2)) return !systemd_runs();
  const bool given = is_marked_delegated(v2) || is_scope_of_a_run(v2) || !systemd_runs();
  return given && only_ours(v2, own_pids);
}

Result<Directory> open_own(const Hierarchy& hierarchy) {
  return Directory::open(hierarchy.directory_of(hierarchy.own_path), hierarchy.version);
}

// systemd delegates to a user only some of the controllers that the root of the tree has; to ask
// for the others would be refused.
Base make_base(Hierarchy hierarchy, Directory directory) {
  if (hierarchy.version == Version::v2) {
    if (const auto text = directory.read("cgroup.controllers")) {
      hierarchy.controllers = parse_v2_controllers(*text);
    }
  }
  return Base{.hierarchy = std::move(hierarchy), .directory = std::move(directory)};
}

// Says of a group that a run has made it as part of a named path, to every run that uses it: the
// last one removes it. Where no attribute can be set, it stays.
constexpr std::array kMadeMarks = {"trusted.plimsoll.made", "user.plimsoll.made"};

void mark_made(const Directory& group) {
  for (const char* mark : kMadeMarks) {
    if (::fsetxattr(group.fd(), mark, "1", 1, 0) == 0) return;
  }
}

bool is_marked_made(const Directory& group) {
  return std::any_of(kMadeMarks.begin(), kMadeMarks.end(), [&group](const char* mark) {
    return ::fgetxattr(group.fd(), mark, nullptr, 0) >= 0;
  });
}

// Makes the named path below the root of the hierarchy, enabling on v2 what is wanted on the way.
Result<Directory> open_named(const Hierarchy& hierarchy, const std::vector<std::string>& parts,
                             ControllerSet wanted) {
  auto directory = Directory::open(hierarchy.mount_point, hierarchy.version);
  for (const std::string& part : parts) {
    if (!directory) break;
    const Directory parent = std::move(*directory);
    auto enabled = enable_for_children(parent, hierarchy.controllers & wanted);
    if (!enabled) return pass(std::move(enabled));
    directory = parent.make_child(part);
    if (directory) {
      mark_made(*directory);
    } else if (directory.error().code == std::errc::file_exists) {
      directory = parent.open_child(part);
    }
    if (!directory) break;
    if (auto filled = fill_cpuset(parent, *directory); !filled) return pass(std::move(filled));
  }
  return directory;
}

Result<Base> place_by_name(const Hierarchy& hierarchy, const std::string& path,
                           ControllerSet wanted) {
  const auto parts = components(path);
  if (!parts) return fail("--cgroup " + path + ": the path must not contain \"..\"");
  auto directory = open_named(hierarchy, *parts, wanted);
  if (!directory) return pass(std::move(directory), "--cgroup " + path);
  Base base = make_base(hierarchy, std::move(*directory));
  for (const std::string& part : *parts) base.named += (base.named.empty() ? "" : "/") + part;
  return base;
}

constexpr std::string_view kMore = "; `plimsoll doctor` explains it";

std::string help() {
  return std::string(
             "start Plimsoll in a delegated group (systemd-run --user --scope -p "
             "Delegate=yes)") +
         (::geteuid() == 0 ? "" : ", as root,") + " or name a writable group with --cgroup" +
         std::string(kMore);
}

// For a user whom systemd's manager does not answer: mostly there is none, or it is not found.
std::string help_with_manager() {
  const std::string uid = std::to_string(::geteuid());
  return "log in, or have root start a manager of systemd's for you (loginctl enable-linger " +
         uid + "), and set XDG_RUNTIME_DIR=/run/user/" + uid + std::string(kMore);
}

Error no_hierarchy(const PlacementRequest& request) {
  std::string what =
      "no cgroup hierarchy is mounted here; mount one (mount -t cgroup2 none "
      "/sys/fs/cgroup)";
  if (request.path) what += ", or name no group with --cgroup or PLIMSOLL_CGROUP";
  return {.what = what + std::string(kMore)};
}

tl::unexpected<Error> fail_read_only(const Hierarchy& hierarchy) {
  return fail(
      "no group can be made: " + hierarchy.mount_point +
      " is mounted read-only; mount it writable for Plimsoll; `plimsoll doctor` explains it");
}

Result<Base> place_on_v1(const Hierarchy& hierarchy) {
  if (hierarchy.read_only) return fail_read_only(hierarchy);
  auto own = open_own(hierarchy);
  if (!own) return pass(std::move(own));
  if (!is_writable(*own)) {
    return fail("the group " + own->label() + " is not writable; " + help());
  }
  return make_base(hierarchy, std::move(*own));
}

Result<Base> place_on_v2(const Hierarchy& hierarchy, const PlacementRequest& request,
                         Supervisor& supervisor) {
  if (hierarchy.read_only) return fail_read_only(hierarchy);
  auto own = open_own(hierarchy);
  if (!own) return pass(std::move(own));
  const bool delegates_nothing = !hierarchy.controllers.has_any(request.wanted);
  if (delegates_nothing && is_writable(*own)) return make_base(hierarchy, std::move(*own));
  if (serves_as_base(*own, request.own_pids)) {
    supervisor = is_true_root(*own) ? Supervisor::stays : Supervisor::moves;
    return make_base(hierarchy, std::move(*own));
  }
  auto root = Directory::open(hierarchy.mount_point, hierarchy.version);
  if (root && is_true_root(*root) && is_writable(*root)) {
    return make_base(hierarchy, std::move(*root));
  }
  const std::string what =
      "no group can be made: " + own->label() + " is not delegated to Plimsoll alone";
  if (!request.why_no_scope) return fail(what + "; " + help());
  return fail(what + ", and systemd makes no scope (" + *request.why_no_scope + "); " +
              (::geteuid() == 0 ? help() : help_with_manager()));
}

}  // namespace

Result<Placement> find_placement(const Hierarchies& hierarchies, const PlacementRequest& request) {
  Placement placement;
  for (const Hierarchy& hierarchy : hierarchies.all) {
    const bool is_v2 = hierarchy.version == Version::v2;
    const bool is_wanted = is_v2 || hierarchy.controllers.has_any(request.wanted);
    if (!is_wanted && !hierarchy.controllers.has_any(request.wished)) continue;
    auto base = request.path
                    ? place_by_name(hierarchy, *request.path, request.wanted | request.wished)
                : is_v2 ? place_on_v2(hierarchy, request, placement.supervisor)
                        : place_on_v1(hierarchy);
    if (!base && !is_wanted && !base.error().gone()) continue;
    if (!base) {
      for (const Base& other : placement.bases) remove_made(other.directory, other.named);
      return pass(std::move(base));
    }
    placement.bases.push_back(std::move(*base));
  }
  if (placement.bases.empty()) {
    return tl::unexpected(no_hierarchy(request));
  }
  return placement;
}

bool own_v2_group_serves(const Hierarchies& hierarchies, const std::vector<int>& own_pids) {
  const Hierarchy* v2 = hierarchies.v2();
  if (v2 == nullptr || v2->controllers.empty()) return true;
  const auto own = open_own(*v2);
  return own && serves_as_base(*own, own_pids);
}

bool is_marked_delegated(const Directory& v2) {
  char value = 0;
  return (::fgetxattr(v2.fd(), "user.delegate", &value, 1) == 1 && value == '1') ||
         (::fgetxattr(v2.fd(), "trusted.delegate", &value, 1) == 1 && value == '1');
}

std::vector<Directory> made_groups(const Directory& base) {
  std::vector<Directory> made;
  auto at = base.clone();
  while (at && is_marked_made(*at)) {
    auto parent = at->open_parent();
    made.push_back(std::move(*at));
    at = std::move(parent);
  }
  return made;
}

void remove_made(const Directory& base, std::string_view named) {
  for (const Directory& group : made_groups(base)) {
    const std::size_t begin = named.rfind('/') + 1;  // npos + 1 is 0
    const std::string name(named.substr(begin));
    const auto parent = group.open_parent();
    if (name.empty() || !parent || !parent->remove_child(name)) return;
    named = named.substr(0, begin > 0 ? begin - 1 : 0);
  }
}

MadeGroups remove_all_made(const Directory& root) {
  using Step = SubtreeWalk::Step;
  MadeGroups made;
  SubtreeWalk walk(root);
  for (Step step = walk.next(); step != Step::ended; step = walk.next()) {
    if (step == Step::found && is_run_name(walk.name())) walk.pass_over();
    if (step != Step::left) continue;
    auto group = walk.here().open_child(walk.name());
    if (!group || !is_marked_made(*group)) continue;
    if (walk.here().remove_child(walk.name())) {
      made.removed.push_back(group->label());
    } else {
      made.in_use.push_back(std::move(*group));
    }
  }
  return made;
}

}  // namespace plimsoll::cgroup
