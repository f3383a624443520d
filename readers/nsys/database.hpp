// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "sim/base/problem.hpp"

struct sqlite3;
struct sqlite3_stmt;

namespace gradway {

/// The rows of a query, in order. Columns count from 0.
class Rows {
 public:
  /// Moves to the next row. @return whether there is one @throws ConfigError if the file is damaged
  bool next();
  std::optional<std::int64_t> whole(int column) const;  ///< Empty if the value is not an integer.
  std::string text(int column) const;                   ///< Empty if the value is not a text.
  std::string blob(int column) const;                   ///< Empty if the value is neither bytes nor a text.
  bool is_null(int column) const;

 private:
  friend class Database;
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  Rows(sqlite3_stmt* statement, const class Database& database)
      : statement_{statement}, database_{&database} {}

  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
  const Database* database_;
};

/// A SQLite file opened for reading; no lock or log file is created. Its contents are not trusted: no code in
/// it runs, and reading takes time proportional to its size even if it is damaged.
class Database {
 public:
  /// @param shown the file's name in messages
  /// @throws ConfigError if it cannot be opened or is not a SQLite database
  Database(const std::filesystem::path& file, const std::string& shown);

  /// The columns of a table; empty if there is no such table. Views do not count.
  std::set<std::string> columns(const std::string& table) const;
  /// @pre the tables and columns of the query exist, and it neither joins nor sorts: SQLite would write what
  /// it sorts, including texts, to the disk.
  Rows rows(const std::string& query) const;
  std::uintmax_t bytes() const { return bytes_; }
  Where where() const;
  [[noreturn]] void refuse_damaged() const;

 private:
  friend class Rows;
  struct Close {
    void operator()(sqlite3* handle) const;
  };
  /// Counts a row. @throws ConfigError if there are more rows than the file can hold
  void count_row() const;

  std::uintmax_t bytes_ = 0;
  mutable std::uintmax_t rows_ = 0;  ///< Number of rows read.
  /// Remaining periods of work that SQLite is allowed.
  std::unique_ptr<std::uintmax_t> periods_ = std::make_unique<std::uintmax_t>(0);
  std::unique_ptr<sqlite3, Close> handle_;
  std::string shown_;
};

}  // namespace gradway
