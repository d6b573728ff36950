#include "kernel/cgroup/hierarchies.h"

#include <fcntl.h>

#include <algorithm>

#include "base/file.h"
#include "base/text.h"
#include "kernel/procfs/table.h"

namespace plimsoll::cgroup {
namespace {

// Whether `path` is `prefix` or lies below it; "/" is above everything.
bool lies_below(std::string_view path, std::string_view prefix) {
  if (prefix == "/") return path.starts_with('/') && !path.starts_with("/..");
  return path.starts_with(prefix) && (path.size() == prefix.size() || path[prefix.size()] == '/');
}

bool same_hierarchy(const Mount& mount, const Membership& membership) {
  return mount.version == membership.version &&
         (mount.version == Version::v2 || mount.controllers == membership.controllers);
}

const Mount* best_mount(const std::vector<Mount>& mounts, const Membership& membership) {
  const Mount* best = nullptr;
  for (const Mount& mount : mounts) {
    if (!same_hierarchy(mount, membership) || !lies_below(membership.path, mount.root)) continue;
    const bool longer = best == nullptr || mount.root.size() > best->root.size();
    const bool writable =
        best != nullptr && mount.root == best->root && best->read_only && !mount.read_only;
    if (longer || writable) best = &mount;
  }
  return best;
}

}  // namespace

std::string_view name_of(Layout layout) {
  switch (layout) {
    case Layout::v2: return "v2";
    case Layout::hybrid: return "hybrid";
    case Layout::v1: return "v1";
  }
  return {};
}

std::string Hierarchy::directory_of(std::string_view group_path) const {
  std::string_view below = group_path;
  if (mount_root != "/") below.remove_prefix(std::min(mount_root.size(), below.size()));
  while (below.starts_with('/')) below.remove_prefix(1);
  return below.empty() ? mount_point : mount_point + "/" + std::string(below);
}

Layout Hierarchies::layout() const {
  const auto is_v1 = [](const Hierarchy& h) { return h.version == Version::v1; };
  if (v2() == nullptr) return Layout::v1;
  return std::any_of(all.begin(), all.end(), is_v1) ? Layout::hybrid : Layout::v2;
}

const Hierarchy* Hierarchies::v2() const {
  for (const Hierarchy& hierarchy : all) {
    if (hierarchy.version == Version::v2) return &hierarchy;
  }
  return nullptr;
}

const Hierarchy* Hierarchies::of(Controller controller) const {
  for (const Hierarchy& hierarchy : all) {
    if (hierarchy.controllers.has(controller)) return &hierarchy;
  }
  return nullptr;
}

Hierarchies bind_hierarchies(const std::vector<Mount>& mounts,
                             const std::vector<Membership>& memberships) {
  Hierarchies found;
  for (const Membership& membership : memberships) {
    const Mount* mount = best_mount(mounts, membership);
    if (mount == nullptr) continue;
    found.all.push_back({.version = mount->version,
                         .controllers = mount->controllers,
                         .mount_point = mount->mount_point,
                         .mount_root = mount->root,
                         .own_path = membership.path,
                         .read_only = mount->read_only});
  }
  const auto v2 = std::ranges::find(found.all, Version::v2, &Hierarchy::version);
  if (v2 != found.all.end()) std::rotate(found.all.begin(), v2, v2 + 1);
  return found;
}

Result<Hierarchies> discover_hierarchies() {
  if (auto proc = procfs::ProcDir::open(); !proc) return pass(std::move(proc));
  auto mountinfo = read_text_at(AT_FDCWD, "/proc/self/mountinfo");
  if (!mountinfo) return pass(std::move(mountinfo));
  auto memberships = read_text_at(AT_FDCWD, "/proc/self/cgroup");
  if (!memberships) return pass(std::move(memberships));

  Hierarchies found =
      bind_hierarchies(parse_mountinfo(*mountinfo), parse_memberships(*memberships));
  for (Hierarchy& hierarchy : found.all) {
    if (hierarchy.version != Version::v2) continue;
    const auto controllers = read_text_at(AT_FDCWD, hierarchy.mount_point + "/cgroup.controllers");
    if (controllers) hierarchy.controllers = parse_v2_controllers(*controllers);
  }
  return found;
}

ControllerSet parse_v2_controllers(std::string_view text) {
  ControllerSet found;
  text = trim(text);
  while (!text.empty()) {
    if (const auto c = controller_named(take_until(text, ' '), Version::v2)) found.add(*c);
  }
  return found;
}

}  // namespace plimsoll::cgroup
