#include "guardian/signal_origin.h"

#include <signal.h>
#include <unistd.h>

#include <optional>

#include "kernel/procfs/table.h"

namespace plimsoll::guardian {

SignalOrigin origin_of(const signalfd_siginfo& info) {
  if (info.ssi_code == SI_KERNEL) return SignalOrigin::terminal;
  constexpr int kAncestorsMax = 1000;
  std::optional<pid_t> pid = static_cast<pid_t>(info.ssi_pid);
  for (int i = 0; i < kAncestorsMax && pid && *pid > 1; ++i) {
    if (*pid == ::getpid()) return SignalOrigin::job;
    const auto sender = procfs::stat_of(*pid);
    pid = sender ? std::optional(sender->parent) : std::nullopt;
  }
  return SignalOrigin::process;
}

}  // namespace plimsoll::guardian
