#include "kernel/cgroup/mountinfo.h"

#include <optional>

#include "base/text.h"

namespace plimsoll::cgroup {
namespace {

bool is_octal(char c) { return c >= '0' && c <= '7'; }

// The kernel writes space, tab, newline and backslash of a path as \ooo.
std::string unescape_octal(std::string_view text) {
  std::string plain;
  plain.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 3 < text.size() && is_octal(text[i + 1]) && is_octal(text[i + 2]) &&
        is_octal(text[i + 3])) {
      plain += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 +
                                 (text[i + 3] - '0'));
      i += 3;
    } else {
      plain += text[i];
    }
  }
  return plain;
}

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

// 36 35 98:0 /root /mount/point rw,noatime master:1 - cgroup cgroup rw,memory
std::optional<Mount> parse_mount(std::string_view line) {
  const std::size_t dash = line.find(" - ");
  if (dash == std::string_view::npos) return std::nullopt;
  std::string_view head = line.substr(0, dash);
  std::string_view tail = line.substr(dash + 3);

  const std::string_view type = take_until(tail, ' ');
  take_until(tail, ' ');  // source
  const std::string_view super_options = tail;
  if (type != "cgroup" && type != "cgroup2") return std::nullopt;

  for (int skipped = 0; skipped < 3; ++skipped) take_until(head, ' ');
  Mount mount;
  mount.root = unescape_octal(take_until(head, ' '));
  mount.mount_point = unescape_octal(take_until(head, ' '));
  mount.read_only = has_option(take_until(head, ' '), "ro") || has_option(super_options, "ro");
  mount.version = type == "cgroup2" ? Version::v2 : Version::v1;
  if (mount.root.empty() || mount.mount_point.empty()) return std::nullopt;
  if (mount.version == Version::v1) {
    mount.controllers = v1_controllers(super_options);
    if (mount.controllers.empty()) return std::nullopt;
  }
  return mount;
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
    if (auto mount = parse_mount(take_line(text))) mounts.push_back(std::move(*mount));
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
