#include "store/history/schema.h"

#include <array>
#include <string>

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

}  // namespace plimsoll::history
