#pragma once

#include <dirent.h>
#include <sys/types.h>

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "base/units.h"
#include "policy/governor/share.h"
#include "supervisor/sharing/ledger_bell.h"

namespace plimsoll::supervisor {

// What a run, or the daemon, has written of itself.
struct LedgerEntry {
  policy::RunClaim claim;
  std::optional<policy::Share> terms{};  // what all may share; the daemon's word
  uid_t user = 0;                        // whose file it is; nothing that is written there
  WallTime told{};                       // when, by the date of the file; the same
};

// What the runs of one machine tell each other so that they share its memory and cores: a directory
// with a file for each live run, which its owner keeps locked as long as it lives, so that it is
// known for dead when it is. Only who may write to a file can take that lock.
//
// Where several users write to the directory, each look reads a bounded number of its names and
// goes on there the next time; whom it has found before it reads always, so that nobody is hidden
// by what others leave there. All calls may wait for the file system.
class Ledger {
 public:
  // Makes this run's file in a directory of ledger_place.h, or passes its error on.
  static Result<Ledger> join(Result<UniqueFd> directory, const std::string& run);
  Ledger(Ledger&&) noexcept = default;
  Ledger& operator=(Ledger&&) = delete;
  ~Ledger();

  // Tells the others. A small write to a file in memory.
  Result<void> tell(const LedgerEntry& own);
  // When that was first. Who has told or rung later (LedgerEntry::told) reads what was told by then
  // at once, as a lease does each before it looks. Nothing: not yet, or the date can't be read.
  [[nodiscard]] std::optional<WallTime> first_told() const { return first_told_; }

  // Wakes the others, who look at once at what was told (LedgerBell).
  Result<void> ring();
  [[nodiscard]] Result<LedgerBell> bell() const { return LedgerBell::hang(directory_.get(), run_); }

  // What the others have told last. A live run whose file can't be read counts with nothing. What
  // one has not told anew for kFresh, because it is stopped say, is about to begin no more. Terms
  // are those of the directory's owner, whatever others have written. What is no file of a live run
  // is removed, where it may be.
  [[nodiscard]] std::vector<LedgerEntry> others();
  // Whether that were all; else the next look finds more.
  [[nodiscard]] bool has_seen_all() const { return list_ == nullptr; }

  // More runs of this user and of root, or of all others, are not looked at.
  static constexpr std::size_t kRunsMax = 1000;
  // Each run tells far more often.
  static constexpr std::chrono::seconds kFresh{5};
  // Nor more of one other user.
  static constexpr std::size_t kRunsOfUserMax = 64;
  // So many names are read in a look beside those that are known.
  static constexpr std::size_t kNamesMax = 4096;

 private:
  // Of one look.
  struct Counts {
    std::size_t believed = 0, told = 0;  // entries of this user and of root, of others
    std::map<uid_t, std::size_t> of_user{};
    std::set<ino_t> files{};  // one with two names is one run's
  };

  Ledger(UniqueFd directory, UniqueFd file, std::string run)
      : directory_(std::move(directory)), file_(std::move(file)), run_(std::move(run)) {}

  std::optional<LedgerEntry> read(const std::string& name, Counts& counts) const;
  [[nodiscard]] bool is_wanted(uid_t user, const Counts& counts) const;

  UniqueFd directory_;
  UniqueFd file_;
  std::string run_;
  std::optional<WallTime> first_told_;
  std::set<std::string> known_;  // names of live runs, as of the last look
  std::unique_ptr<DIR, int (*)(DIR*)> list_{nullptr, &::closedir};  // where it goes on
};

// Whether `self` takes a run of that user at its word: his own, and root's.
[[nodiscard]] bool is_believed(uid_t user, uid_t self);
// Who else is there, for a run of that user.
[[nodiscard]] policy::Beside beside_of(const std::vector<LedgerEntry>& others, uid_t self);

// An entry as a line of a run's file, and back; nothing for what is no such line.
std::string encode(const LedgerEntry& entry);
std::optional<LedgerEntry> decode_entry(std::string_view text);

}  // namespace plimsoll::supervisor
