#include "guardian/protection.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>

#include "base/file.h"
#include "base/text.h"

namespace plimsoll::guardian {
namespace {

constexpr const char* kOomScoreFile = "/proc/self/oom_score_adj";

bool has_capability(unsigned number) {
  __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> data{};
  if (::syscall(SYS_capget, &header, data.data()) != 0) return false;
  return (data[CAP_TO_INDEX(number)].effective & CAP_TO_MASK(number)) != 0;
}

// Capabilities of another user namespace don't count for the machine's memory. The first has all
// ids mapped onto themselves.
bool in_first_user_namespace() {
  const auto map = read_text_at(AT_FDCWD, "/proc/self/uid_map");
  if (!map) return true;  // a kernel without user namespaces
  std::string_view fields = trim(*map);
  const std::size_t space = fields.rfind(' ');
  return space != std::string_view::npos && fields.substr(space + 1) == "4294967295";
}

bool may_lock_everything() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_MEMLOCK, &limit) == 0 && limit.rlim_cur == RLIM_INFINITY) return true;
  return has_capability(CAP_IPC_LOCK) && in_first_user_namespace();
}

}  // namespace

std::optional<std::string> lower_oom_score() {
  const auto before = read_text_at(AT_FDCWD, kOomScoreFile);
  if (!before) return std::nullopt;
  const auto score = to_i64(trim(*before));
  if (!score || *score <= kOomScoreAdj) return std::nullopt;
  if (!write_text_at(AT_FDCWD, kOomScoreFile, std::to_string(kOomScoreAdj))) return std::nullopt;
  return std::to_string(*score);
}

void go_before_others() {
  // Else all threads made from here on would have it too, those that work for clients among them.
  const int policy = ::sched_getscheduler(0);
  sched_param parameters{};
  if (policy < 0 || ::sched_getparam(0, &parameters) != 0) return;
  if (::sched_setscheduler(0, policy | SCHED_RESET_ON_FORK, &parameters) != 0) return;
  [[maybe_unused]] const int done = ::setpriority(PRIO_PROCESS, 0, kSupervisorNice);
}

bool lock_memory() {
  return may_lock_everything() && ::mlockall(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT) == 0;
}

}  // namespace plimsoll::guardian
