#include "store/history/sqlite.h"

#include <sqlite3.h>

namespace plimsoll::history {
namespace {

// What file systems say of damage of their own.
constexpr auto kDamage = static_cast<std::errc>(EUCLEAN);

// The code says what a caller may do about it, the text is SQLite's.
tl::unexpected<Error> failure(sqlite3* database) {
  std::string text = database ? sqlite3_errmsg(database) : "out of memory";
  const int system = database ? sqlite3_system_errno(database) : 0;
  switch (sqlite3_errcode(database) & 0xff) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB: return fail(kDamage, std::move(text));
    case SQLITE_FULL: return fail(std::errc::no_space_on_device, "write");
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN:
      // ENOENT is what SQLite met last, not why it gave up: only a missing file is gone().
      if (system != 0 && system != ENOENT) {
        return fail(static_cast<std::errc>(system), std::move(text));
      }
      break;
    default: break;
  }
  return fail(std::move(text));
}

struct Bind {
  sqlite3_stmt* statement;
  int index;

  int operator()(std::monostate) const { return sqlite3_bind_null(statement, index); }
  int operator()(std::int64_t value) const { return sqlite3_bind_int64(statement, index, value); }
  int operator()(double value) const { return sqlite3_bind_double(statement, index, value); }
  int operator()(std::string_view text) const {
    return sqlite3_bind_text64(statement, index, text.data() ? text.data() : "", text.size(),
                               SQLITE_STATIC, SQLITE_UTF8);
  }
};

}  // namespace

bool is_damage(const Error& error) { return error.code == kDamage; }

void Statement::Finalize::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }

Result<void> Statement::begin(const std::vector<SqlValue>& values) {
  sqlite3_reset(handle_.get());
  int index = 0;
  for (const SqlValue& value : values) {
    if (std::visit(Bind{handle_.get(), ++index}, value) != SQLITE_OK) {
      return failure(sqlite3_db_handle(handle_.get()));
    }
  }
  return {};
}

Result<bool> Statement::step() {
  const int code = sqlite3_step(handle_.get());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) {
    sqlite3_reset(handle_.get());
    return false;
  }
  return failure(sqlite3_db_handle(handle_.get()));
}

Result<void> Statement::run(const std::vector<SqlValue>& values) {
  if (auto begun = begin(values); !begun) return begun;
  for (;;) {
    auto row = step();
    if (!row) return pass(std::move(row));
    if (!*row) return {};
  }
}

std::optional<std::int64_t> Statement::integer(int column) const {
  if (sqlite3_column_type(handle_.get(), column) == SQLITE_NULL) return std::nullopt;
  return sqlite3_column_int64(handle_.get(), column);
}

std::optional<double> Statement::real(int column) const {
  if (sqlite3_column_type(handle_.get(), column) == SQLITE_NULL) return std::nullopt;
  return sqlite3_column_double(handle_.get(), column);
}

std::string_view Statement::text(int column) const {
  const void* const text = sqlite3_column_blob(handle_.get(), column);
  const int size = sqlite3_column_bytes(handle_.get(), column);
  return text ? std::string_view(static_cast<const char*>(text), static_cast<std::size_t>(size))
              : std::string_view();
}

void Database::Close::operator()(sqlite3* database) const { sqlite3_close_v2(database); }

Result<Database> Database::open(const std::string& path) {
  sqlite3* raw = nullptr;
  const int code =
      sqlite3_open_v2(path.c_str(), &raw, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nullptr);
  Database database(raw);  // to be closed even if it could not be opened
  if (code != SQLITE_OK) return failure(raw);
  sqlite3_extended_result_codes(raw, 1);
  return database;
}

void Database::set_patience(Duration patience) {
  using std::chrono::milliseconds;
  sqlite3_busy_timeout(
      handle_.get(), static_cast<int>(std::chrono::duration_cast<milliseconds>(patience).count()));
}

Result<void> Database::run(const std::string& sql) {
  if (sqlite3_exec(handle_.get(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) {
    return failure(handle_.get());
  }
  return {};
}

Result<Statement> Database::prepare(std::string_view sql) {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(handle_.get(), sql.data(), static_cast<int>(sql.size()), &statement,
                         nullptr) != SQLITE_OK) {
    return failure(handle_.get());
  }
  return Statement(statement);
}

Result<std::int64_t> Database::integer(std::string_view sql) {
  auto statement = prepare(sql);
  if (!statement) return pass(std::move(statement));
  auto row = statement->step();
  if (!row) return pass(std::move(row));
  return *row ? statement->integer(0).value_or(0) : 0;
}

std::uint64_t Database::changes() const {
  return static_cast<std::uint64_t>(sqlite3_changes64(handle_.get()));
}

Result<Transaction> Transaction::begin(Database& database) {
  if (auto begun = database.run("BEGIN IMMEDIATE"); !begun) return pass(std::move(begun));
  return Transaction(database);
}

Transaction::~Transaction() {
  if (database_) (void)database_->run("ROLLBACK");
}

Result<void> Transaction::commit() {
  if (auto done = database_->run("COMMIT"); !done) return done;
  database_ = nullptr;
  return {};
}

}  // namespace plimsoll::history
