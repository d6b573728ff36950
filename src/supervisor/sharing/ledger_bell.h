#pragma once

#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace plimsoll::supervisor {

// Hears that other runs have news worth a look at once: that somebody rings in the ledger's
// directory by the times of his file (Ledger::ring()). Who rings without need costs the others a
// look, of which Lease makes no more than one each Lease::kSoon, and is deaf from a ring to the
// look: what comes meanwhile waits in the kernel, which drops what is too much and says so.
class LedgerBell {
 public:
  // Of the ledger in that directory, for the run whose file has that name. Fails where the user has
  // no inotify instance left; then news are heard at the next regular look.
  static Result<LedgerBell> hang(int directory, std::string own);

  // Readable when somebody may have rung.
  [[nodiscard]] int fd() const { return events_.get(); }

  // Whether another run has rung. Takes no more of the news at once than it needs to know, and does
  // not block: others may write faster than it reads.
  [[nodiscard]] bool has_rung();

 private:
  LedgerBell(UniqueFd events, std::string own) : events_(std::move(events)), own_(std::move(own)) {}

  static constexpr int kReadsMost = 4;

  UniqueFd events_;
  std::string own_;
};

}  // namespace plimsoll::supervisor
