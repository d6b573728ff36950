#include "kernel/procfs/mountinfo.h"

#include "base/text.h"

namespace plimsoll::procfs {
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

}  // namespace

// 36 35 98:0 /root /mount/point rw,noatime master:1 - ext4 /dev/sda1 rw
std::optional<Mount> parse_mount(std::string_view line) {
  constexpr std::string_view kDash = " - ";
  constexpr int kBeforeRoot = 3;  // fields
  const std::size_t dash = line.find(kDash);
  if (dash == std::string_view::npos) return std::nullopt;
  std::string_view head = line.substr(0, dash);
  std::string_view tail = line.substr(dash + kDash.size());
  for (int skipped = 0; skipped < kBeforeRoot; ++skipped) take_until(head, ' ');

  Mount mount;
  mount.root = unescape_octal(take_until(head, ' '));
  mount.mount_point = unescape_octal(take_until(head, ' '));
  mount.options = take_until(head, ' ');
  mount.type = take_until(tail, ' ');
  take_until(tail, ' ');  // source
  mount.super_options = tail;
  if (mount.root.empty() || mount.mount_point.empty()) return std::nullopt;
  return mount;
}

}  // namespace plimsoll::procfs
