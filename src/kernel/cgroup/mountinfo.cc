#include "kernel/cgroup/mountinfo.h"

#include <optional>

#include "base/text.h"
#include "kernel/procfs/parse.h"

namespace plimsoll::cgroup {
namespace {

ControllerSet v1_controllers(std::string_view comma_list) {
  ControllerSet found;
  while (!comma_list.empty()) {
    if (const auto c = controller_named(take_until(comma_list, ','), Version::v1)) found.add(*c);
  }
  return found;
}

bool has_option(std::string_view comma_list, std::string_view wanted) {
  while (!comma_list.empty()) {
    if (take_until(comma_list, ',') == wanted) return true;
  }
  return false;
}

std::optional<Mount> mount_of_groups(const procfs::Mount& mount) {
  if (mount.type != "cgroup" && mount.type != "cgroup2") return std::nullopt;
  Mount found{
      .version = mount.type == "cgroup2" ? Version::v2 : Version::v1,
      .mount_point = mount.mount_point,
      .root = mount.root,
      .controllers = {},
      .read_only = has_option(mount.options, "ro") || has_option(mount.super_options, "ro")};
  if (found.version == Version::v1) {
    found.controllers = v1_controllers(mount.super_options);
    if (found.controllers.empty()) return std::nullopt;
  }
  return found;
}

std::optional<Membership> parse_membership(std::string_view line) {
  const std::string_view id = take_until(line, ':');
  if (!to_u64(id) || line.find(':') == std::string_view::npos) return std::nullopt;
  const std::string_view names = take_until(line, ':');
  constexpr std::string_view kDeleted = " (deleted)";
  if (line.ends_with(kDeleted)) line.remove_suffix(kDeleted.size());
  if (!line.starts_with('/')) return std::nullopt;

  Membership membership{.version = Version::v1, .controllers = {}, .path = std::string(line)};
  if (id == "0" && names.empty()) {
    membership.version = Version::v2;
    return membership;
  }
  membership.controllers = v1_controllers(names);
  if (membership.controllers.empty()) return std::nullopt;
  return membership;
}

}  // namespace

std::vector<Mount> parse_mountinfo(std::string_view text) {
  std::vector<Mount> mounts;
  while (!text.empty()) {
    const auto mount = procfs::parse_mount(take_line(text));
    if (!mount) continue;
    if (auto found = mount_of_groups(*mount)) mounts.push_back(std::move(*found));
  }
  return mounts;
}

std::vector<Membership> parse_memberships(std::string_view text) {
  std::vector<Membership> memberships;
  while (!text.empty()) {
    if (auto membership = parse_membership(take_line(text))) {
      memberships.push_back(std::move(*membership));
    }
  }
  return memberships;
}

}  // namespace plimsoll::cgroup
