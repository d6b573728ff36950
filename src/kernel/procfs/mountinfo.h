#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace plimsoll::procfs {

// A mount, as a line of /proc/PID/mountinfo tells it (proc(5)). The views point into the line.
struct Mount {
  std::string root;  // the directory of the filesystem that appears at the mount point
  std::string mount_point;
  std::string_view options;  // of this mount, with commas between
  std::string_view type;     // of the filesystem
  std::string_view super_options;
};

// Octal escapes (\040 for a space) of the two paths are undone. Nothing of a line of another form.
[[nodiscard]] std::optional<Mount> parse_mount(std::string_view line);

}  // namespace plimsoll::procfs
