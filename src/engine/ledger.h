#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "policy/share.h"

namespace plimsoll::engine {

// What the runs of one machine tell each other so that they share one line: a directory with a file
// for each live run, which its owner keeps locked (flock(2)) as long as it lives. A file without a
// lock is a dead run's, and whoever finds it removes it.
//
// Of one user, or of root: runs that can't see each other meet at the machine's MemAvailable.
class Ledger {
 public:
  // Makes the directory where it is missing, and this run's file.
  static Result<Ledger> join(const std::string& directory, const std::string& run);
  Ledger(Ledger&&) noexcept = default;
  Ledger& operator=(Ledger&&) = delete;
  ~Ledger();

  // Tells the others. A small write to a file in memory.
  Result<void> tell(const policy::LineClaim& own);

  // What the others have told last. A live run whose file can't be read counts with nothing.
  [[nodiscard]] std::vector<policy::LineClaim> others() const;

  // More runs than this at once are not looked at.
  static constexpr std::size_t kRunsMax = 1000;

 private:
  Ledger(UniqueFd directory, UniqueFd file, std::string run)
      : directory_(std::move(directory)), file_(std::move(file)), run_(std::move(run)) {}

  UniqueFd directory_;
  UniqueFd file_;
  std::string run_;
};

// A claim as a line of a run's file, and back; nothing for what is no such line.
std::string encode(const policy::LineClaim& claim);
std::optional<policy::LineClaim> decode_claim(std::string_view text);

}  // namespace plimsoll::engine
