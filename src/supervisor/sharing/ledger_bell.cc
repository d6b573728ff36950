#include "supervisor/sharing/ledger_bell.h"

#include <sys/inotify.h>
#include <unistd.h>

#include <array>
#include <cstring>

namespace plimsoll::supervisor {

Result<LedgerBell> LedgerBell::hang(int directory, std::string own) {
  UniqueFd events(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  if (!events) return fail_errno("watch the ledger");
  const std::string path = "/proc/self/fd/" + std::to_string(directory);
  if (::inotify_add_watch(events.get(), path.c_str(), IN_ATTRIB | IN_ONLYDIR) < 0) {
    return fail_errno("watch the ledger");
  }
  return LedgerBell(std::move(events), std::move(own));
}

bool LedgerBell::has_rung() {
  bool rung = false;
  alignas(inotify_event) std::array<char, 4096> buffer{};
  for (int read = 0; read < kReadsMost && !rung; ++read) {
    const ssize_t size = ::read(events_.get(), buffer.data(), buffer.size());
    if (size <= 0) break;
    for (std::size_t at = 0; at + sizeof(inotify_event) <= static_cast<std::size_t>(size);) {
      inotify_event event{};
      std::memcpy(&event, &buffer[at], sizeof event);
      // Without a name it is the directory itself, or some that were lost.
      const char* const name = event.len > 0 ? &buffer[at + sizeof event] : "";
      rung = rung || own_ != name;
      at += sizeof event + event.len;
    }
  }
  return rung;
}

}  // namespace plimsoll::supervisor
