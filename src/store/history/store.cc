#include "store/history/store.h"

#include <fnmatch.h>
#include <sys/stat.h>

#include <algorithm>
#include <bit>
#include <filesystem>

#include "base/may_wait.h"
#include "store/history/columns.h"
#include "store/history/file.h"
#include "store/history/state_dir.h"

namespace plimsoll::history {
namespace {

// A thread of its own may wait as long as another Plimsoll may need for a batch on a slow disk.
constexpr Duration kPatienceOfThread = std::chrono::seconds(5);
constexpr std::size_t kRowsPerLook = 256;  // rows read between two looks at the clock: about 1 ms

std::int64_t whole(std::uint64_t count) {
  constexpr std::uint64_t kMax = INT64_MAX;
  return static_cast<std::int64_t>(std::min(count, kMax));
}

SqlValue value_of(const std::optional<Bytes>& bytes) {
  return bytes ? SqlValue(whole(bytes->count)) : SqlValue();
}

std::int64_t at_least(policy::Seen seen) { return seen == policy::Seen::at_least ? 1 : 0; }

std::int64_t unix_ns(WallTime time) { return time.time_since_epoch().count(); }

// As it is stored: -1 is whoever keeps the database.
constexpr std::int64_t kKeeper = -1;

std::int64_t owner_number(const std::optional<std::uint32_t>& owner) {
  return owner ? std::int64_t{*owner} : kKeeper;
}

// A condition on class.owner.
std::string condition(const Whose& whose) {
  switch (whose.kind) {
    case Whose::Kind::keeper: return "class.owner = " + std::to_string(kKeeper);
    case Whose::Kind::user: return "class.owner = " + std::to_string(whose.uid);
    case Whose::Kind::all: break;
  }
  return "1";
}

bool worth_keeping(const Entry& entry) {
  const policy::Key& key = entry.attempt_summary.key;
  return !key.exact.empty() && key.exact.size() <= kKeyBytesMax && key.tool.size() <= kKeyBytesMax;
}

// The statements of one batch.
struct Inserter {
  Statement find_class, new_attempt_summary, news, forget_of_class, forget_of_command;

  static Result<Inserter> prepare(Database& database);
  Result<void> insert(const Entry& entry);
};

Result<Inserter> Inserter::prepare(Database& database) {
  auto find_class = database.prepare(
      "INSERT INTO class (exact, tool, owner) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET "
      "exact = exact RETURNING id");
  if (!find_class) return pass(std::move(find_class));
  auto new_attempt_summary = database.prepare(
      "INSERT INTO experience (class, recorded_unix_ns, peak_bytes, peak_at_least, ran_ns, "
      "ran_at_least, cores, input_bytes, memory_hint_bytes, curve, command, numbers, "
      "written_bytes, io_bytes, io_wait_ns) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  if (!new_attempt_summary) return pass(std::move(new_attempt_summary));
  auto news = database.prepare("UPDATE class SET last_unix_ns = max(last_unix_ns, ?) WHERE id = ?");
  if (!news) return pass(std::move(news));
  // What has just become one too many of its class, unless its command still needs it; and what has
  // of its command, unless its class does.
  auto forget_of_class = database.prepare(
      "DELETE FROM experience AS old WHERE id = (SELECT id FROM experience WHERE class = ? "
      "ORDER BY id DESC LIMIT 1 OFFSET ?) AND (command IS NULL OR id <= (SELECT id FROM experience "
      "AS other WHERE other.command = old.command ORDER BY id DESC LIMIT 1 OFFSET ?))");
  if (!forget_of_class) return pass(std::move(forget_of_class));
  auto forget_of_command = database.prepare(
      "DELETE FROM experience WHERE command = ? AND id <= (SELECT id FROM experience WHERE "
      "command = ? ORDER BY id DESC LIMIT 1 OFFSET ?) AND id <= (SELECT id FROM experience WHERE "
      "class = ? ORDER BY id DESC LIMIT 1 OFFSET ?)");
  if (!forget_of_command) return pass(std::move(forget_of_command));
  return Inserter{std::move(*find_class), std::move(*new_attempt_summary), std::move(*news),
                  std::move(*forget_of_class), std::move(*forget_of_command)};
}

Result<void> Inserter::insert(const Entry& entry) {
  const policy::AttemptSummary& seen = entry.attempt_summary;
  const SqlValue owner(owner_number(seen.key.owner));
  if (auto begun = find_class.begin({seen.key.exact, seen.key.tool, owner}); !begun) return begun;
  auto row = find_class.step();
  if (!row) return pass(std::move(row));
  const std::int64_t id = find_class.integer(0).value_or(0);
  if (auto rest = find_class.step(); !rest) return pass(std::move(rest));

  const bool is_whole =
      seen.peak_seen == policy::Seen::whole && seen.ran_seen == policy::Seen::whole;
  const SqlValue command = is_whole && seen.key.command != 0
                               ? SqlValue(std::bit_cast<std::int64_t>(seen.key.command))
                               : SqlValue();
  const std::string curve = curve_text(seen.curve);
  const std::string numbers = numbers_text(seen.numbers);
  auto done = new_attempt_summary.run(
      {id, unix_ns(entry.recorded), whole(seen.peak.count), at_least(seen.peak_seen),
       std::int64_t{seen.ran.count()}, at_least(seen.ran_seen),
       seen.cores ? SqlValue(*seen.cores) : SqlValue(), value_of(seen.input),
       value_of(seen.memory_hint), curve, command, numbers, value_of(seen.written),
       value_of(seen.io),
       seen.io_wait ? SqlValue(std::int64_t{seen.io_wait->count()}) : SqlValue()});
  if (done) done = news.run({unix_ns(entry.recorded), id});
  if (done) {
    done = forget_of_class.run({id, whole(kRowsPerClassMax), whole(kRowsPerCommandMax)});
  }
  if (done) {
    done = forget_of_command.run(
        {command, command, whole(kRowsPerCommandMax), id, whole(kRowsPerClassMax)});
  }
  return done;
}

std::optional<Bytes> bytes_of(std::optional<std::int64_t> count) {
  if (!count || *count < 0) return std::nullopt;
  return Bytes{static_cast<std::uint64_t>(*count)};
}

// Nothing for a row that no version of this program has written.
std::optional<Entry> entry_of(const Statement& row) {
  Entry entry;
  policy::AttemptSummary& seen = entry.attempt_summary;
  seen.key = {.exact = std::string(row.text(0)), .tool = std::string(row.text(1))};
  entry.recorded = WallTime(Duration(row.integer(2).value_or(0)));
  const auto peak = bytes_of(row.integer(3));
  const auto ran = row.integer(5);
  auto curve = parse_curve(row.text(10));
  auto numbers = parse_numbers(row.text(12));
  if (!peak || !ran || *ran < 0 || !curve || !numbers) return std::nullopt;
  seen.key.command = std::bit_cast<std::uint64_t>(row.integer(11).value_or(0));
  if (const auto owner = row.integer(13).value_or(kKeeper); owner != kKeeper) {
    seen.key.owner = static_cast<std::uint32_t>(owner);
  }
  seen.peak = *peak;
  seen.peak_seen = row.integer(4).value_or(0) != 0 ? policy::Seen::at_least : policy::Seen::whole;
  seen.ran = Duration(*ran);
  seen.ran_seen = row.integer(6).value_or(0) != 0 ? policy::Seen::at_least : policy::Seen::whole;
  seen.cores = row.real(7);
  seen.input = bytes_of(row.integer(8));
  seen.memory_hint = bytes_of(row.integer(9));
  seen.written = bytes_of(row.integer(14));
  seen.io = bytes_of(row.integer(15));
  if (const auto waited = row.integer(16); waited && *waited >= 0) seen.io_wait = Duration(*waited);
  seen.curve = std::move(*curve);
  seen.numbers = std::move(*numbers);
  return entry;
}

constexpr const char* kColumns =
    "SELECT exact, tool, recorded_unix_ns, peak_bytes, peak_at_least, ran_ns, ran_at_least, cores, "
    "input_bytes, memory_hint_bytes, curve, command, numbers, owner, written_bytes, "
    "io_bytes, io_wait_ns FROM ";
constexpr const char* kJoined = "experience JOIN class ON class.id = experience.class WHERE ";
constexpr const char* kNewestFirst = " ORDER BY experience.id DESC";
// By way of the classes, which are few.
constexpr const char* kJoinedOfTool =
    "class CROSS JOIN experience ON experience.class = class.id "
    "WHERE (class.exact = ? OR (class.tool = ? AND class.tool != '')) AND ";

Result<void> forget_class(Database& database, std::int64_t id) {
  auto statement = database.prepare("DELETE FROM class WHERE id = ?");
  if (!statement) return pass(std::move(statement));
  return statement->run({id});
}

struct MatchingClass {
  std::int64_t id = 0;
  std::uint64_t attempt_summaries = 0;
};

Result<std::vector<MatchingClass>> matching(Database& database, const std::string& pattern,
                                            const Whose& whose) {
  auto row = database.prepare(
      "SELECT id, exact, (SELECT count(*) FROM experience WHERE class = class.id) FROM class "
      "WHERE " +
      condition(whose));
  if (!row) return pass(std::move(row));
  std::vector<MatchingClass> found;
  for (;;) {
    auto more = row->step();
    if (!more) return pass(std::move(more));
    if (!*more) return found;
    if (::fnmatch(pattern.c_str(), std::string(row->text(1)).c_str(), 0) != 0) continue;
    found.push_back({.id = row->integer(0).value_or(0),
                     .attempt_summaries = static_cast<std::uint64_t>(row->integer(2).value_or(0))});
  }
}

}  // namespace

Result<Store::Opened> Store::open(const std::string& path, WallTime now, WhenMissing missing,
                                  const Disk& disk) {
  struct stat there{};
  if (missing == WhenMissing::leave && ::stat(path.c_str(), &there) != 0) {
    return fail_errno("open " + path);
  }
  const std::string dir = std::filesystem::path(path).parent_path().string();
  if (auto made = make_private_dir(dir.empty() ? "." : dir, disk); !made) {
    return pass(std::move(made));
  }
  Store store(disk, path, now);
  auto connected = store.mended([] { return Result<void>(); });
  if (!connected) return pass(std::move(connected));
  auto notice = store.take_notice();
  return Opened{std::move(store), std::move(notice)};
}

Result<void> Store::connect() {
  if (database_) return {};
  auto database = open_database(path_, *disk_);
  if (!database) return pass(std::move(database));
  database_.emplace(std::move(*database));
  if (patience_) database_->set_patience(*patience_);
  return {};
}

template <class Work>
auto Store::mended(Work work) -> decltype(work()) {
  may_wait("Store");
  const auto attempt = [&]() -> decltype(work()) {
    if (auto connected = connect(); !connected) return pass(std::move(connected));
    return work();
  };
  auto done = attempt();
  if (!done && is_damage(done.error())) {
    if (auto replaced = replace(done.error()); !replaced) return pass(std::move(replaced));
    done = attempt();
  }
  if (!done) return pass(std::move(done), path_);
  return done;
}

Result<void> Store::replace(const Error& damage) {
  database_.reset();
  auto aside = set_aside(path_, opened_, *disk_);
  if (!aside) return pass(std::move(aside), path_ + ": " + damage.what);
  if (*aside) {
    notice_ = "the history was damaged (" + damage.what + "): it was renamed to " + **aside +
              ", and a new one was started";
  }
  return {};
}

std::optional<std::string> Store::take_notice() { return std::exchange(notice_, std::nullopt); }

void Store::be_patient() {
  patience_ = kPatienceOfThread;
  if (database_) database_->set_patience(*patience_);
}

Result<Store::Loaded> Store::load(Instant deadline, Instant (*clock)(), const Whose& whose) {
  return read(kJoined + condition(whose) + kNewestFirst, {}, deadline, clock);
}

Result<Store::Loaded> Store::load_tool(const policy::Key& key, Instant deadline,
                                       Instant (*clock)()) {
  return read(kJoinedOfTool + condition(kOfKeeper) + kNewestFirst, {key.exact, key.tool}, deadline,
              clock);
}

Result<Store::Loaded> Store::read(const std::string& query, const std::vector<std::string>& values,
                                  Instant deadline, Instant (*clock)()) {
  Loaded loaded;
  auto done = mended([&]() -> Result<void> {
    auto row = database_->prepare(kColumns + query);
    if (!row) return pass(std::move(row));
    std::vector<SqlValue> bound(values.begin(), values.end());
    if (auto begun = row->begin(bound); !begun) return begun;
    for (std::size_t rows = 0;; ++rows) {
      auto more = row->step();
      if (!more) return pass(std::move(more));
      if (!*more) return {};
      loaded.cut = rows % kRowsPerLook == 0 && clock() >= deadline;
      if (loaded.cut) return {};
      if (auto entry = entry_of(*row)) loaded.entries.push_back(std::move(*entry));
    }
  });
  // What was read before damage showed is as good as ever.
  if (!done) return pass(std::move(done));
  std::reverse(loaded.entries.begin(), loaded.entries.end());
  return loaded;
}

Result<void> Store::add(const std::vector<Entry>& entries) {
  return mended([&]() -> Result<void> {
    auto transaction = Transaction::begin(*database_);
    if (!transaction) return pass(std::move(transaction));
    {
      auto inserter = Inserter::prepare(*database_);
      if (!inserter) return pass(std::move(inserter));
      for (const Entry& entry : entries) {
        if (!worth_keeping(entry)) continue;
        if (auto inserted = inserter->insert(entry); !inserted) return inserted;
      }
    }
    return transaction->commit();
  });
}

Result<void> Store::trim(WallTime now, const Bounds& bounds) {
  const auto number = [](std::size_t count) { return std::to_string(count); };
  const std::string others = "owner != " + std::to_string(kKeeper);
  const std::string sql =
      "DELETE FROM experience WHERE recorded_unix_ns < " +
      std::to_string(unix_ns(now - bounds.age)) +
      // First what one user has too much of: it is not for others to make room.
      "; DELETE FROM class WHERE id IN (SELECT id FROM (SELECT id, row_number() OVER (PARTITION BY "
      "owner ORDER BY last_unix_ns DESC) AS age FROM class WHERE " +
      others + ") WHERE age > " + number(bounds.classes_of_owner) +
      "); DELETE FROM experience WHERE id IN (SELECT id FROM (SELECT experience.id AS id, "
      "row_number() OVER (PARTITION BY owner ORDER BY experience.id DESC) AS age FROM experience "
      "JOIN class ON "
      "class.id = experience.class WHERE " +
      others + ") WHERE age > " + number(bounds.rows_of_owner) +
      "); DELETE FROM class WHERE id IN (SELECT id FROM class ORDER BY last_unix_ns DESC "
      "LIMIT -1 OFFSET " +
      number(bounds.classes) +
      "); DELETE FROM experience WHERE id IN (SELECT id FROM (SELECT id, row_number() OVER "
      "(PARTITION BY class ORDER BY id DESC) AS age FROM experience) WHERE age > " +
      number(bounds.rows_of_class) +
      "); DELETE FROM experience WHERE id <= (SELECT id FROM experience ORDER BY id DESC "
      "LIMIT 1 OFFSET " +
      number(bounds.rows) + "); DELETE FROM class WHERE id NOT IN (SELECT class FROM experience)";
  return mended([&]() -> Result<void> {
    auto transaction = Transaction::begin(*database_);
    if (!transaction) return pass(std::move(transaction));
    if (auto done = database_->run(sql); !done) return done;
    if (auto done = transaction->commit(); !done) return done;
    return database_->run("PRAGMA incremental_vacuum");
  });
}

Result<Store::Forgotten> Store::forget(const std::string& pattern, const Whose& whose) {
  return mended([&]() -> Result<Forgotten> {
    auto transaction = Transaction::begin(*database_);
    if (!transaction) return pass(std::move(transaction));
    auto found = matching(*database_, pattern, whose);
    if (!found) return pass(std::move(found));
    Forgotten forgotten;
    for (const MatchingClass& match : *found) {
      if (auto done = forget_class(*database_, match.id); !done) {
        return pass(std::move(done));
      }
      ++forgotten.classes;
      forgotten.attempt_summaries += match.attempt_summaries;
    }
    if (auto done = transaction->commit(); !done) return pass(std::move(done));
    if (forgotten.classes == 0) return forgotten;
    // Only a file that is written anew holds nothing of it, and the log beside it must go too.
    auto cleaned = database_->run("VACUUM; PRAGMA wal_checkpoint(TRUNCATE)");
    if (!cleaned) return pass(std::move(cleaned));
    return forgotten;
  });
}

}  // namespace plimsoll::history
