#include "supervisor/output/disk.h"

#include <linux/magic.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cstdlib>

namespace plimsoll::output {
namespace {

constexpr const char* kSpoolDir = "/var/tmp";  // of the hierarchy standard: survives a reboot, so
                                               // it is on a disk on nearly every machine

bool in_memory(const char* path) {
  struct statfs about{};
  if (::statfs(path, &about) != 0) return false;
  return about.f_type == TMPFS_MAGIC || about.f_type == RAMFS_MAGIC;
}

const char* set_variable(const char* name) {
  const char* const value = std::getenv(name);
  return value && *value ? value : nullptr;
}

}  // namespace

std::string default_spool_dir() {
  if (const char* const own = set_variable("PLIMSOLL_TMPDIR")) return own;
  if (const char* const common = set_variable("TMPDIR"); common && !in_memory(common)) {
    return common;
  }
  return kSpoolDir;
}

bool out_of_room(std::errc code) {
  return code == std::errc::no_space_on_device || code == std::errc::file_too_large ||
         static_cast<int>(code) == EDQUOT;
}

Result<void> write_front(Place place, std::string_view& rest) {
  while (!rest.empty()) {
    const ssize_t wrote =
        ::pwrite(place.fd, rest.data(), rest.size(), static_cast<off_t>(place.offset));
    if (wrote >= 0) {
      rest.remove_prefix(static_cast<std::size_t>(wrote));
      place.offset += static_cast<std::uint64_t>(wrote);
    } else if (errno != EINTR) {
      return fail_errno("write");
    }
  }
  return {};
}

}  // namespace plimsoll::output
