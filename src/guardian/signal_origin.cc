#include "guardian/signal_origin.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <optional>
#include <string>

#include "base/file.h"
#include "base/text.h"

namespace plimsoll::guardian {
namespace {

// The parent of a process, zombie or not; nothing once it is gone.
std::optional<pid_t> parent_of(pid_t pid) {
  const auto text = read_text_at(AT_FDCWD, "/proc/" + std::to_string(pid) + "/stat");
  if (!text) return std::nullopt;
  // "pid (comm) state ppid ...", where comm may have anything in it.
  const std::size_t name_end = text->rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  std::string_view rest = trim(std::string_view(*text).substr(name_end + 1));
  take_until(rest, ' ');
  const auto parent = to_u64(take_until(rest, ' '));
  return parent ? std::optional(static_cast<pid_t>(*parent)) : std::nullopt;
}

}  // namespace

SignalOrigin origin_of(const signalfd_siginfo& info) {
  if (info.ssi_code == SI_KERNEL) return SignalOrigin::terminal;
  constexpr int kAncestorsMax = 1000;
  std::optional<pid_t> pid = static_cast<pid_t>(info.ssi_pid);
  for (int i = 0; i < kAncestorsMax && pid && *pid > 1; ++i) {
    if (*pid == ::getpid()) return SignalOrigin::job;
    pid = parent_of(*pid);
  }
  return SignalOrigin::process;
}

}  // namespace plimsoll::guardian
