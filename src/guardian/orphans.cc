#include "guardian/orphans.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "base/file.h"
#include "base/text.h"
#include "guardian/child_list.h"

namespace plimsoll::guardian {
namespace {

constexpr auto kOrphanGap = std::chrono::milliseconds(5);

std::string comm_of(pid_t pid) {
  const auto text = read_text_at(AT_FDCWD, "/proc/" + std::to_string(pid) + "/comm");
  return text ? std::string(trim(*text)) : "?";
}

// Its pid can't be another's: it is ours to wait for.
bool has_ended(pid_t child) {
  siginfo_t info{};
  return ::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG) != 0 ||
         info.si_pid == child;
}

}  // namespace

std::vector<Orphan> end_orphans(Instant deadline, Instant (*clock)()) {
  std::vector<Orphan> orphans;
  // Who dies has left his group a moment before he can be waited for.
  if (!children().empty()) std::this_thread::sleep_for(kOrphanGap);
  for (bool is_hopeful = true; is_hopeful && clock() < deadline;) {
    is_hopeful = false;
    for (const pid_t pid : children()) {
      if (has_ended(pid)) continue;
      const auto known = std::find_if(orphans.begin(), orphans.end(),
                                      [pid](const Orphan& orphan) { return orphan.pid == pid; });
      if (known == orphans.end()) orphans.push_back({pid, comm_of(pid), true});
      // Of a set-uid program it may be refused.
      if (::kill(pid, SIGKILL) == 0) is_hopeful = true;
    }
    if (is_hopeful) std::this_thread::sleep_for(kOrphanGap);
  }
  for (Orphan& orphan : orphans) orphan.lives = !has_ended(orphan.pid);
  return orphans;
}

}  // namespace plimsoll::guardian
