#include "kernel/cgroup/reap_target.h"

namespace plimsoll::cgroup {
namespace {

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
