#include "store/history/file.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string>
#include <utility>

#include "base/unique_fd.h"
#include "store/history/store.h"

namespace plimsoll::history {
namespace {

// "Plim", so that file(1) and we know whose database it is.
constexpr int kApplicationId = 0x506c696d;

// What makes each version of the one before it. Never changed once it was released.
constexpr std::array<const char*, kSchemaVersion> kMigrations = {
    R"(CREATE TABLE class (
         id INTEGER PRIMARY KEY, exact TEXT NOT NULL, tool TEXT NOT NULL, UNIQUE (exact, tool));
       CREATE TABLE experience (
         id INTEGER PRIMARY KEY,
         class INTEGER NOT NULL REFERENCES class (id) ON DELETE CASCADE,
         recorded_unix_ns INTEGER NOT NULL,
         peak_bytes INTEGER NOT NULL, peak_at_least INTEGER NOT NULL,
         ran_ns INTEGER NOT NULL, ran_at_least INTEGER NOT NULL,
         cores REAL, input_bytes INTEGER, curve TEXT NOT NULL);
       CREATE INDEX experience_of_class ON experience (class, id);)",
    // The user's hint is learnt from too; and the classes without news are found without looking at
    // every experience.
    R"(ALTER TABLE experience ADD COLUMN memory_hint_bytes INTEGER;
       ALTER TABLE class ADD COLUMN last_unix_ns INTEGER NOT NULL DEFAULT 0;
       UPDATE class SET last_unix_ns = coalesce((SELECT max(recorded_unix_ns) FROM experience
                                                 WHERE experience.class = class.id), 0);
       CREATE INDEX class_by_news ON class (last_unix_ns);)",
    // A command is known again, and the numbers of its arguments tell.
    R"(ALTER TABLE experience ADD COLUMN command INTEGER;
       ALTER TABLE experience ADD COLUMN numbers TEXT NOT NULL DEFAULT '';
       CREATE INDEX experience_of_command ON experience (command, id) WHERE command IS NOT NULL;)",
    // Each owner has classes of his own, which the key of a table can only say in a new one. What
    // was there is that of whoever keeps the database.
    R"(CREATE TABLE class_of_owner (
         id INTEGER PRIMARY KEY, exact TEXT NOT NULL, tool TEXT NOT NULL,
         last_unix_ns INTEGER NOT NULL DEFAULT 0, owner INTEGER NOT NULL DEFAULT -1,
         UNIQUE (exact, tool, owner));
       INSERT INTO class_of_owner (id, exact, tool, last_unix_ns)
         SELECT id, exact, tool, last_unix_ns FROM class;
       CREATE TABLE experience_of_owner (
         id INTEGER PRIMARY KEY,
         class INTEGER NOT NULL REFERENCES class_of_owner (id) ON DELETE CASCADE,
         recorded_unix_ns INTEGER NOT NULL,
         peak_bytes INTEGER NOT NULL, peak_at_least INTEGER NOT NULL,
         ran_ns INTEGER NOT NULL, ran_at_least INTEGER NOT NULL,
         cores REAL, input_bytes INTEGER, memory_hint_bytes INTEGER, curve TEXT NOT NULL,
         command INTEGER, numbers TEXT NOT NULL DEFAULT '');
       INSERT INTO experience_of_owner
         SELECT id, class, recorded_unix_ns, peak_bytes, peak_at_least, ran_ns, ran_at_least, cores,
                input_bytes, memory_hint_bytes, curve, command, numbers FROM experience;
       DROP TABLE experience;
       DROP TABLE class;
       ALTER TABLE class_of_owner RENAME TO class;
       ALTER TABLE experience_of_owner RENAME TO experience;
       CREATE INDEX experience_of_class ON experience (class, id);
       CREATE INDEX class_by_news ON class (last_unix_ns);
       CREATE INDEX experience_of_command ON experience (command, id) WHERE command IS NOT NULL;)",
    // What a job writes takes space.
    "ALTER TABLE experience ADD COLUMN written_bytes INTEGER;",
    // Who waits for storage devices, and what they move.
    R"(ALTER TABLE experience ADD COLUMN io_bytes INTEGER;
       ALTER TABLE experience ADD COLUMN io_wait_ns INTEGER;)",
};

// The version of the database, if it is ours.
Result<int> version_of(Database& database) {
  auto version = database.integer("PRAGMA user_version");
  if (!version) return pass(std::move(version));
  auto application = database.integer("PRAGMA application_id");
  if (!application) return pass(std::move(application));
  auto tables = database.integer("SELECT count(*) FROM sqlite_schema");
  if (!tables) return pass(std::move(tables));
  if (*application != kApplicationId && (*tables != 0 || *version != 0)) {
    return fail("is a database, but not a history of Plimsoll");
  }
  if (*version < 0 || *version > kSchemaVersion) {
    return fail("was written by a later version of Plimsoll: found format " +
                std::to_string(*version) + ", expected at most " + std::to_string(kSchemaVersion));
  }
  return static_cast<int>(*version);
}

namespace fs = std::filesystem;

// At the start of a run somebody is waiting.
constexpr Duration kPatienceAtStart = std::chrono::milliseconds(250);
constexpr mode_t kPrivate = 0600;
constexpr std::string_view kAsideMark = ".corrupt-";
constexpr std::array<const char*, 2> kCompanions = {"-wal", "-shm"};
// Names tried: an earlier process of the same number may have left its own behind.
constexpr int kDraftNamesMax = 100;

// Deleting a class deletes its attempt summaries.
constexpr const char* kSettings =
    "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON";

// So that trim() can give free pages back. To set it writes to the file even where it is set.
Result<void> set_vacuum(Database& database) {
  constexpr std::int64_t kIncremental = 2;
  auto mode = database.integer("PRAGMA auto_vacuum");
  if (!mode) return pass(std::move(mode));
  if (*mode == kIncremental) return {};
  return database.run("PRAGMA auto_vacuum = INCREMENTAL");
}

Result<Database> open_existing(const std::string& path) {
  auto database = Database::open(path);
  if (!database) return database;
  database->set_patience(kPatienceAtStart);
  if (auto set = set_vacuum(*database); !set) return pass(std::move(set));
  if (auto set = database->run(kSettings); !set) return pass(std::move(set));
  if (auto migrated = migrate(*database); !migrated) return pass(std::move(migrated));
  return database;
}

// Removes a database's first name, after which it has its final one or is gone.
class Draft {
 public:
  static Result<Draft> create(const std::string& path, const Disk& disk) {
    const std::string stem = path + ".new-" + std::to_string(::getpid());
    for (int i = 0; i < kDraftNamesMax; ++i) {
      std::string name = i == 0 ? stem : stem + "-" + std::to_string(i);
      // SQLite gives its other files the same mode.
      if (UniqueFd(disk.open(AT_FDCWD, name, O_RDWR | O_CREAT | O_EXCL, kPrivate))) {
        return Draft(disk, std::move(name));
      }
      if (errno != EEXIST) return fail_errno("create");
    }
    return fail(std::errc::file_exists, "create " + stem);
  }
  Draft(Draft&& other) noexcept : disk_(other.disk_), path_(std::exchange(other.path_, {})) {}
  Draft& operator=(Draft&&) = delete;
  ~Draft() {
    if (path_.empty()) return;
    disk_.unlink(AT_FDCWD, path_);
    for (const char* companion : kCompanions) disk_.unlink(AT_FDCWD, path_ + companion);
  }

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  Draft(const Disk& disk, std::string path) : disk_(disk), path_(std::move(path)) {}

  const Disk& disk_;
  std::string path_;  // empty: moved from
};

Result<void> create(const std::string& path, const Disk& disk) {
  const auto draft = Draft::create(path, disk);
  if (!draft) return tl::unexpected(draft.error());
  {
    auto database = open_existing(draft->path());
    if (!database) return pass(std::move(database));
  }
  if (disk.link(AT_FDCWD, draft->path(), path) != 0 && errno != EEXIST) {
    return fail_errno("create");
  }
  return {};
}

std::string date_text(WallTime now) {
  const std::time_t seconds = std::chrono::system_clock::to_time_t(
      std::chrono::time_point_cast<std::chrono::system_clock::duration>(now));
  std::tm utc{};
  ::gmtime_r(&seconds, &utc);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y%m%d-%H%M%S", &utc);
  return text.data();
}

void remove_old_asides(const std::string& path, const Disk& disk) {
  const std::string start = fs::path(path).filename().string() + std::string(kAsideMark);
  std::vector<std::string> asides;
  std::error_code error;
  for (fs::directory_iterator at(fs::path(path).parent_path(), error), end; !error && at != end;
       at.increment(error)) {
    const std::string name = at->path().filename().string();
    const bool whole =
        name.starts_with(start) && !name.ends_with("-wal") && !name.ends_with("-shm");
    if (whole) asides.push_back(at->path().string());
  }
  std::sort(asides.begin(), asides.end());
  for (std::size_t i = 0; i + kAsideMax < asides.size(); ++i) {
    disk.unlink(AT_FDCWD, asides[i]);
    for (const char* companion : kCompanions) disk.unlink(AT_FDCWD, asides[i] + companion);
  }
}

bool is_sound(const std::string& path) {
  auto database = open_existing(path);
  if (!database) return false;
  auto check = database->prepare("PRAGMA quick_check(1)");
  if (!check) return false;
  const auto row = check->step();
  return row && *row && check->text(0) == "ok";
}

}  // namespace

Result<void> migrate(Database& database, int version) {
  auto present = version_of(database);
  if (!present) return pass(std::move(present));
  if (*present >= version) return {};
  auto transaction = Transaction::begin(database);
  if (!transaction) return pass(std::move(transaction));
  // Somebody else may have been quicker.
  present = version_of(database);
  if (!present) return pass(std::move(present));
  for (int next = *present; next < version; ++next) {
    const auto& migration = kMigrations[static_cast<std::size_t>(next)];
    if (auto done = database.run(migration); !done) return done;
  }
  if (*present < version) {
    auto marked = database.run("PRAGMA application_id = " + std::to_string(kApplicationId) +
                               "; PRAGMA user_version = " + std::to_string(version));
    if (!marked) return marked;
  }
  return transaction->commit();
}

Result<Database> open_database(const std::string& path, const Disk& disk) {
  // SQLite would open a file that can't be written for reading, and stumble later.
  if (::access(path.c_str(), R_OK | W_OK) != 0) {
    if (errno != ENOENT) return fail_errno("open to write");
    if (auto created = create(path, disk); !created) return pass(std::move(created));
  }
  return open_existing(path);
}

Result<std::optional<std::string>> set_aside(const std::string& path, WallTime now,
                                             const Disk& disk) {
  const std::string lock_path = path + ".lock";
  const UniqueFd lock(disk.open(AT_FDCWD, lock_path, O_RDWR | O_CREAT, kPrivate));
  if (!lock) return fail_errno("open " + lock_path);
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) return fail_errno("lock " + lock_path);
  if (::access(path.c_str(), F_OK) != 0) return std::optional<std::string>();
  if (is_sound(path)) return std::optional<std::string>();
  const std::string aside = path + std::string(kAsideMark) + date_text(now);
  // The log first: where this is cut short, SQLite must not take it for that of the next database.
  for (const char* companion : kCompanions) {
    const std::string name = path + companion;
    if (disk.rename(AT_FDCWD, name, aside + companion) != 0 && errno != ENOENT) {
      return fail_errno("rename " + name);
    }
  }
  if (disk.rename(AT_FDCWD, path, aside) != 0) return fail_errno("rename " + path);
  remove_old_asides(path, disk);
  return std::optional(aside);
}

}  // namespace plimsoll::history
