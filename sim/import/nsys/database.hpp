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

/// The rows of a query, one after the other. Columns count from 0.
class Rows {
 public:
  /// Goes to the next row. @return is there one? @throws ConfigError if the file is damaged
  bool next();
  std::optional<std::int64_t> whole(int column) const;  ///< nothing if it is no whole number
  std::string text(int column) const;                   ///< empty if there is none
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

/// A SQLite file that is only read, and beside which no file is made. What it holds may come from anybody: no
/// code that stands in it runs, and reading takes time in proportion to its size, however damaged it is.
class Database {
 public:
  /// @param shown the file's name in messages
  /// @throws ConfigError if it cannot be opened or is no SQLite database
  Database(const std::filesystem::path& file, const std::string& shown);

  /// The columns of a table; none if there is no such table. Views are none.
  std::set<std::string> columns(const std::string& table) const;
  /// @pre the query is one of tables and columns that are there. It must not join or sort: SQLite would write
  /// what it sorts to the disk, texts included.
  Rows rows(const std::string& query) const;
  std::uintmax_t bytes() const { return bytes_; }
  Where where() const;
  [[noreturn]] void refuse_damaged() const;

 private:
  friend class Rows;
  struct Close {
    void operator()(sqlite3* handle) const;
  };
  /// Counts a row that was read. @throws ConfigError if there are more than the file can hold
  void count_row() const;

  std::uintmax_t bytes_ = 0;
  mutable std::uintmax_t rows_ = 0;  ///< read so far
  std::unique_ptr<std::uintmax_t> periods_ =
      std::make_unique<std::uintmax_t>(0);  ///< that SQLite may work yet
  std::unique_ptr<sqlite3, Close> handle_;
  std::string shown_;
};

}  // namespace gradway
