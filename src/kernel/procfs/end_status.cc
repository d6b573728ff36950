#include "kernel/procfs/end_status.h"

#include <fcntl.h>
#include <sys/ioctl.h>

#include <array>
#include <cstdint>
#include <string>

#include "base/file.h"
#include "kernel/procfs/parse.h"

namespace plimsoll::procfs {
namespace {

// struct pidfd_info of linux/pidfd.h, in its first size; older headers have none.
struct PidfdInfo {
  std::uint64_t mask;
  std::uint64_t cgroup;
  std::array<std::uint32_t, 11> ids;
  std::int32_t exit_code;
};
constexpr std::uint64_t kInfoExit = 1U << 3;  // PIDFD_INFO_EXIT
constexpr unsigned long kGetInfo = _IOWR(0xFF, 11, PidfdInfo);
static_assert(sizeof(PidfdInfo) == 64);

// Absent once somebody has waited for it.
std::optional<int> pid_of(int pidfd) {
  const auto info = read_text_at(AT_FDCWD, "/proc/self/fdinfo/" + std::to_string(pidfd));
  return info ? parse_fdinfo_pid(*info) : std::nullopt;
}

// The number may be another process's before the text is read, but not while the pidfd names it.
std::optional<int> status_of_zombie(int pidfd) {
  const auto pid = pid_of(pidfd);
  if (!pid) return std::nullopt;
  const auto stat = read_text_at(AT_FDCWD, "/proc/" + std::to_string(*pid) + "/stat");
  const auto status = stat ? parse_end_status(*stat) : std::nullopt;
  return pid_of(pidfd) == pid ? status : std::nullopt;
}

std::optional<int> status_by_pidfd(int pidfd) {
  PidfdInfo info{};
  info.mask = kInfoExit;
  if (::ioctl(pidfd, kGetInfo, &info) != 0 || (info.mask & kInfoExit) == 0) return std::nullopt;
  return info.exit_code;
}

}  // namespace

// In this order: once the process is no zombie any more, its pidfd tells.
std::optional<int> end_status(int pidfd) {
  const auto status = status_of_zombie(pidfd);
  return status ? status : status_by_pidfd(pidfd);
}

}  // namespace plimsoll::procfs
