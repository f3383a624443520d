// SPDX-License-Identifier: Apache-2.0
#include "sim/import/nsys/database.hpp"

#include <sqlite3.h>

#include <fmt/format.h>

#include "sim/files/text_file.hpp"

namespace gradway {

void Rows::Finalize::operator()(sqlite3_stmt* statement) const {
  sqlite3_finalize(statement);
}

bool Rows::next() {
  const int result = sqlite3_step(statement_.get());
  if (result != SQLITE_ROW && result != SQLITE_DONE) database_->refuse_damaged();
  return result == SQLITE_ROW;
}

std::optional<std::int64_t> Rows::whole(int column) const {
  if (sqlite3_column_type(statement_.get(), column) != SQLITE_INTEGER) return std::nullopt;
  return sqlite3_column_int64(statement_.get(), column);
}

std::string Rows::text(int column) const {
  if (sqlite3_column_type(statement_.get(), column) != SQLITE_TEXT) return "";
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement_.get(), column));
  return text == nullptr
             ? ""
             : std::string{text, static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column))};
}

void Database::Close::operator()(sqlite3* handle) const {
  sqlite3_close(handle);
}

Database::Database(const std::filesystem::path& file, const std::string& shown) : shown_{shown} {
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error)) refuse_at(where(), "there is no such file", "");
  sqlite3* handle = nullptr;
  const int opened = sqlite3_open_v2(file.c_str(), &handle, SQLITE_OPEN_READONLY, nullptr);
  handle_.reset(handle);
  if (opened != SQLITE_OK) refuse_at(where(), fmt::format("cannot be read: {}", sqlite3_errstr(opened)), "");
  sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  constexpr int longest_text = 1 << 20;  // bytes of a value: names of kernels have some thousands
  sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, longest_text);
  if (sqlite3_exec(handle, "SELECT count(*) FROM sqlite_schema", nullptr, nullptr, nullptr) != SQLITE_OK)
    refuse_at(where(), "this is no SQLite database, or it is damaged",
              "export the report: nsys export --type sqlite -o FILE.sqlite FILE.nsys-rep");
}

std::set<std::string> Database::columns(const std::string& table) const {
  auto found =
      rows(fmt::format("SELECT c.name FROM sqlite_schema t JOIN pragma_table_info(t.name) c WHERE t.type = "
                       "'table' AND t.name = '{}'",
                       table));
  std::set<std::string> names;
  while (found.next()) names.insert(found.text(0));
  return names;
}

Rows Database::rows(const std::string& query) const {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(handle_.get(), query.c_str(), -1, &statement, nullptr) != SQLITE_OK)
    refuse_damaged();
  return {statement, *this};
}

Where Database::where() const {
  Where where;
  where.file = shown_;
  return where;
}

void Database::refuse_damaged() const {
  refuse_at(where(), fmt::format("the database is damaged: {}", sqlite3_errmsg(handle_.get())),
            "export it again: nsys export --type sqlite -o FILE.sqlite FILE.nsys-rep");
}

}  // namespace gradway
