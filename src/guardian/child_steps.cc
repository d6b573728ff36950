#include "guardian/child_steps.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/close_range.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <memory>

#include "base/text.h"

namespace plimsoll::guardian {
namespace {

struct CloseListing {
  void operator()(DIR* listing) const { ::closedir(listing); }
};

bool mark_one_by_one() {
  const std::unique_ptr<DIR, CloseListing> listing(::opendir("/proc/self/fd"));
  if (!listing) return false;
  while (const dirent* entry = ::readdir(listing.get())) {
    const auto fd = to_u64(entry->d_name);
    if (fd && *fd > 2 && ::fcntl(static_cast<int>(*fd), F_SETFD, FD_CLOEXEC) != 0) return false;
  }
  return true;
}

}  // namespace

bool mark_descriptors() {
  return ::syscall(SYS_close_range, 3U, ~0U, CLOSE_RANGE_CLOEXEC) == 0 || mark_one_by_one();
}

void forget_securebits() {
  if (::prctl(PR_GET_SECUREBITS) > 0) ::prctl(PR_SET_SECUREBITS, 0);
}

// Ambient ones go with those that are inheritable.
bool drop_capabilities() {
  __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> none{};
  return ::syscall(SYS_capset, &header, none.data()) == 0;
}

}  // namespace plimsoll::guardian
