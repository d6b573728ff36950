#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "policy/share.h"

namespace plimsoll::engine {

// What a run, or the daemon, has written of itself.
struct LedgerEntry {
  policy::RunClaim claim;
  std::optional<policy::Share> terms{};  // what all may share; the daemon's word
};

// What the runs of one machine tell each other so that they share its memory and cores: a directory
// with a file for each live run, which its owner keeps locked (flock(2)) as long as it lives. A
// file without a lock is a dead run's, and whoever finds it removes it.
class Ledger {
 public:
  // Makes this run's file in a directory of ledger_place.h, or passes its error on.
  static Result<Ledger> join(Result<UniqueFd> directory, const std::string& run);
  Ledger(Ledger&&) noexcept = default;
  Ledger& operator=(Ledger&&) = delete;
  ~Ledger();

  // Tells the others. A small write to a file in memory.
  Result<void> tell(const LedgerEntry& own);

  // What the others have told last. A live run whose file can't be read counts with nothing. Terms
  // are those of the directory's owner, whatever others have written.
  [[nodiscard]] std::vector<LedgerEntry> others() const;

  // More runs than this at once are not looked at.
  static constexpr std::size_t kRunsMax = 1000;

 private:
  Ledger(UniqueFd directory, UniqueFd file, std::string run)
      : directory_(std::move(directory)), file_(std::move(file)), run_(std::move(run)) {}

  UniqueFd directory_;
  UniqueFd file_;
  std::string run_;
};

// An entry as a line of a run's file, and back; nothing for what is no such line.
std::string encode(const LedgerEntry& entry);
std::optional<LedgerEntry> decode_entry(std::string_view text);

}  // namespace plimsoll::engine
