// SPDX-License-Identifier: Apache-2.0
#include "readers/nsys/database.hpp"

#include <sqlite3.h>

#include <cctype>

#include <fmt/format.h>

#include "sim/files/text_file.hpp"

namespace gradway {
namespace {

constexpr auto export_again = "export it again: nsys export --type sqlite -o FILE.sqlite FILE.nsys-rep";

/// URI of an immutable file: SQLite then creates neither a lock nor the files of a write-ahead log.
/// @source https://www.sqlite.org/uri.html
std::string uri_of(const std::filesystem::path& file) {
  std::string uri = "file:";
  for (const auto byte : std::filesystem::absolute(file).lexically_normal().string()) {
    const auto code = static_cast<unsigned char>(byte);
    if (std::isalnum(code) != 0 || byte == '/') {
      uri += byte;
    } else {
      uri += fmt::format("%{:02X}", code);
    }
  }
  return uri + "?immutable=1";
}

}  // namespace

void Rows::Finalize::operator()(sqlite3_stmt* statement) const {
  sqlite3_finalize(statement);
}

bool Rows::next() {
  const int result = sqlite3_step(statement_.get());
  if (result != SQLITE_ROW && result != SQLITE_DONE) database_->refuse_damaged();
  if (result == SQLITE_ROW) database_->count_row();
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

std::string Rows::blob(int column) const {
  const auto* bytes = static_cast<const char*>(sqlite3_column_blob(statement_.get(), column));
  return bytes == nullptr
             ? ""
             : std::string{bytes, static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column))};
}

bool Rows::is_null(int column) const {
  return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL;
}

void Database::Close::operator()(sqlite3* handle) const {
  sqlite3_close(handle);
}

Database::Database(const std::filesystem::path& file, const std::string& shown) : shown_{shown} {
  check_regular_file(file, shown);
  std::error_code error;
  bytes_ = std::filesystem::file_size(file, error);
  auto log = file;
  log += "-wal";
  if (const auto pending = std::filesystem::file_size(log, error); !error && pending > 0)
    refuse_at(where(), "a write-ahead log has changes that are not yet in the database",
              "end the program that writes it, or run: sqlite3 FILE 'PRAGMA wal_checkpoint(TRUNCATE)'");
  sqlite3* handle = nullptr;
  const int opened =
      sqlite3_open_v2(uri_of(file).c_str(), &handle, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, nullptr);
  handle_.reset(handle);
  if (opened != SQLITE_OK) refuse_at(where(), fmt::format("cannot be read: {}", sqlite3_errstr(opened)), "");
  sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  constexpr int longest_text = 1 << 20;  // Maximum bytes of a value: names of kernels have several thousand.
  sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, longest_text);
  // A row takes about 20 instructions and tens of bytes.
  constexpr int period = 100'000;  // In instructions of SQLite's virtual machine.
  constexpr std::uintmax_t instructions_a_byte = 10;
  *periods_ = 100 + bytes_ * instructions_a_byte / period;
  sqlite3_progress_handler(
      handle, period,
      [](void* context) {
        auto& periods = *static_cast<std::uintmax_t*>(context);
        return periods == 0 ? 1 : (--periods, 0);
      },
      periods_.get());
  if (sqlite3_exec(handle, "SELECT count(*) FROM sqlite_schema", nullptr, nullptr, nullptr) != SQLITE_OK)
    refuse_at(where(), "this is not a SQLite database, or it is damaged",
              "export the report: nsys export --type sqlite -o FILE.sqlite FILE.nsys-rep");
}

void Database::count_row() const {
  constexpr std::uintmax_t least_row = 4;  // In bytes: its length, its number, a header, a value.
  if (++rows_ > 100 + bytes_ / least_row)
    refuse_at(where(), "the database is damaged: it has more rows than fit into its file", export_again);
}

std::set<std::string> Database::columns(const std::string& table) const {
  auto matches =
      rows(fmt::format("SELECT c.name FROM sqlite_schema t JOIN pragma_table_info(t.name) c WHERE t.type = "
                       "'table' AND t.name = '{}'",
                       table));
  std::set<std::string> names;
  while (matches.next()) names.insert(matches.text(0));
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
  if (sqlite3_errcode(handle_.get()) == SQLITE_INTERRUPT)
    refuse_at(where(), "the database is damaged: reading it takes longer than its size explains",
              export_again);
  refuse_at(where(), fmt::format("the database is damaged: {}", sqlite3_errmsg(handle_.get())), export_again);
}

}  // namespace gradway
