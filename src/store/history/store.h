#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/disk.h"
#include "base/result.h"
#include "base/units.h"
#include "policy/estimator/attempt_summary.h"
#include "policy/estimator/estimator.h"
#include "store/history/sqlite.h"

// What was learnt of past attempts, from run to run.
namespace plimsoll::history {

// As many of a class as the estimator looks at.
inline constexpr std::size_t kRowsPerClassMax = policy::kRunsMax;
// Beyond those, so many of each command are kept as the estimator looks at, and so many of all
// commands of a class: one class of many commands must not push out the others.
inline constexpr std::size_t kRowsPerCommandMax = policy::kRunsOfCommandMax;
inline constexpr std::size_t kCommandRowsPerClassMax = 5'000;
// At about 700 bytes a row: a file of 20 MB, read in a fifth of a second.
inline constexpr std::size_t kRowsMax = 30'000;
// A set of jobs whose names make each a class of its own must not push out all others at once.
inline constexpr std::size_t kClassesMax = 5'000;
// The same of an owner beside whoever keeps the database: one user must not push out the others.
inline constexpr std::size_t kClassesOfOwnerMax = 500;
inline constexpr std::size_t kRowsOfOwnerMax = 5'000;
// Programs and their inputs are others by then.
inline constexpr Duration kAgeMax = std::chrono::hours(24 * 365);
// A longer key is that of a generated command line, which will not come again: it is not kept.
inline constexpr std::size_t kKeyBytesMax = 4096;
// So many damaged databases are kept beside the good one, for whoever wants to look into them.
inline constexpr std::size_t kAsideMax = 3;

// What a store is kept within.
struct Bounds {
  std::size_t classes = kClassesMax;
  std::size_t rows = kRowsMax;
  std::size_t classes_of_owner = kClassesOfOwnerMax;
  std::size_t rows_of_owner = kRowsOfOwnerMax;
  std::size_t rows_of_class = kRowsPerClassMax + kCommandRowsPerClassMax;
  Duration age = kAgeMax;
};

// One attempt that is over, and when.
struct Entry {
  policy::AttemptSummary attempt_summary;
  WallTime recorded{};
};

// Whose attempt summaries are meant: those of whoever keeps the database, of one other user, or
// all.
struct Whose {
  enum class Kind : std::uint8_t { keeper, user, all } kind = Kind::keeper;
  std::uint32_t uid = 0;  // of Kind::user
};
inline constexpr Whose kOfKeeper{};
inline constexpr Whose kOfAll{.kind = Whose::Kind::all};

enum class WhenMissing : std::uint8_t {
  create,
  leave,  // then opening fails, and the error is gone()
};

// A database of attempt summaries, one per user, which several Plimsolls may have open at once. A
// daemon's also has those of other users, each apart: Key::owner.
//
// A database that is damaged is set aside (renamed to NAME.corrupt-DATE) as soon as that shows, and
// an empty one takes its place; take_notice() tells. All other faults are errors after which the
// store may be used again: whoever runs jobs goes on without it.
//
// Used by one thread at a time. Calls read and write a disk; those that write wait for other
// writers.
class Store {
 public:
  struct Opened;
  struct Loaded;
  struct Forgotten;

  // `now` dates a damaged database that is set aside. Waits for others for a moment only. `disk`
  // makes, names and removes files; what is in them SQLite writes by itself.
  static Result<Opened> open(const std::string& path, WallTime now,
                             WhenMissing missing = WhenMissing::create,
                             const Disk& disk = Disk::kernel());

  // Everything of theirs, oldest first. One pass from the newest backwards, which ends at
  // `deadline`.
  Result<Loaded> load(Instant deadline, Instant (*clock)(), const Whose& whose = kOfKeeper);

  // The keeper's of this class and of all others of its tool.
  Result<Loaded> load_tool(const policy::Key& key, Instant deadline, Instant (*clock)());

  // All or none, in one transaction; then at most kRowsPerClassMax remain of each class, and of
  // each command kRowsPerCommandMax. Entries with a key over kKeyBytesMax or without one are passed
  // over. The command of an attempt that was cut off is not kept: it tells nothing of it.
  Result<void> add(const std::vector<Entry>& entries);

  // Brings the whole within its bounds, by taking away what is oldest. For now and then.
  Result<void> trim(WallTime now, const Bounds& bounds = {});

  // The classes whose name matches a pattern of glob(7): what is forgotten is gone from the disk.
  Result<Forgotten> forget(const std::string& pattern, const Whose& whose = kOfKeeper);

  // What people are to be told, once.
  [[nodiscard]] std::optional<std::string> take_notice();

  // Waits longer for other writers from now on: for a thread that may.
  void be_patient();

 private:
  Store(const Disk& disk, std::string path, WallTime opened)
      : disk_(&disk), path_(std::move(path)), opened_(opened) {}
  // Does `work`; when damage shows, does it once more on a new database.
  template <class Work>
  auto mended(Work work) -> decltype(work());
  // The rows of a query that begins with kColumns.
  Result<Loaded> read(const std::string& query, const std::vector<std::string>& values,
                      Instant deadline, Instant (*clock)());
  Result<void> connect();
  Result<void> replace(const Error& damage);

  const Disk* disk_;
  std::string path_;
  WallTime opened_;
  std::optional<Duration> patience_;
  std::optional<Database> database_;  // nothing: it could not be opened again, or not yet
  std::optional<std::string> notice_;
};

struct Store::Opened {
  Store store;
  std::optional<std::string> notice;  // what people are to be told
};

struct Store::Loaded {
  std::vector<Entry> entries;
  bool cut = false;  // there are older ones, for which there was no time
};

struct Store::Forgotten {
  std::uint64_t classes = 0;
  std::uint64_t attempt_summaries = 0;
};

}  // namespace plimsoll::history
