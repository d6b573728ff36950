#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"
#include "base/units.h"

struct sqlite3;
struct sqlite3_stmt;

// SQLite with owners and results. For this room alone.
namespace plimsoll::history {

// Whether something failed because the file is no database or is a broken one. Its `what` alone is
// the text for people then.
[[nodiscard]] bool is_damage(const Error& error);

// What a statement is given: nothing is NULL. A text must live until the statement is run.
using SqlValue = std::variant<std::monostate, std::int64_t, double, std::string_view>;

// A prepared statement; must not outlive its database.
class Statement {
 public:
  // Begins anew with these values for the parameters, in order.
  Result<void> begin(const std::vector<SqlValue>& values = {});

  // The next row: true if there is one. Waits for other writers as long as the database's patience.
  Result<bool> step();

  // begin() and step() to the end, for what gives no rows.
  Result<void> run(const std::vector<SqlValue>& values = {});

  // Of the present row; NULL is nothing. A text is valid until the next step().
  [[nodiscard]] std::optional<std::int64_t> integer(int column) const;
  [[nodiscard]] std::optional<double> real(int column) const;
  [[nodiscard]] std::string_view text(int column) const;

 private:
  friend class Database;
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  explicit Statement(sqlite3_stmt* statement) : handle_(statement) {}
  std::unique_ptr<sqlite3_stmt, Finalize> handle_;
};

// One connection, used by one thread at a time.
class Database {
 public:
  // An existing file. Little is read of it: what it holds shows with the first statement.
  static Result<Database> open(const std::string& path);

  // How long a statement waits for other connections that write.
  void set_patience(Duration patience);

  // One or several statements without parameters or rows.
  Result<void> run(const std::string& sql);

  Result<Statement> prepare(std::string_view sql);

  // The first column of the first row.
  Result<std::int64_t> integer(std::string_view sql);

  // Rows changed by the last statement.
  [[nodiscard]] std::uint64_t changes() const;

 private:
  struct Close {
    void operator()(sqlite3* database) const;
  };
  explicit Database(sqlite3* database) : handle_(database) {}
  std::unique_ptr<sqlite3, Close> handle_;
};

// All or nothing: what was done since the beginning is undone by the destructor unless commit()
// succeeded.
class Transaction {
 public:
  // Waits until no other connection writes.
  static Result<Transaction> begin(Database& database);
  Transaction(Transaction&& other) noexcept : database_(std::exchange(other.database_, nullptr)) {}
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction();

  Result<void> commit();

 private:
  explicit Transaction(Database& database) : database_(&database) {}
  Database* database_;  // null: committed, or moved from
};

}  // namespace plimsoll::history
