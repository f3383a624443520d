// SPDX-License-Identifier: Apache-2.0
#include "sim/import/compressed_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>

#include <fmt/format.h>

namespace gradway {
namespace {

constexpr unsigned zlib_buffer = 1 << 18;

[[noreturn]] void refuse(const Where& where, std::string what, std::string hint = "") {
  throw ConfigError{Problem{where, std::move(what), {}, std::move(hint)}};
}

/// Moves a place behind a text. Columns count characters of UTF-8.
void advance(int& line, int& column, const char* begin, const char* end) {
  const std::string_view text{begin, static_cast<std::size_t>(end - begin)};
  const auto last_break = text.rfind('\n');
  if (last_break != std::string_view::npos) {
    line += static_cast<int>(std::ranges::count(text, '\n'));
    column = 1;
  }
  const auto rest = text.substr(last_break == std::string_view::npos ? 0 : last_break + 1);
  column += static_cast<int>(
      std::ranges::count_if(rest, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

}  // namespace

CompressedFile::CompressedFile(const std::filesystem::path& path, std::string shown)
    : shown_{std::move(shown)} {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) refuse(whole(), "this is a folder, not a file");
  if (!std::filesystem::exists(path, ignored)) refuse(whole(), "there is no such file");
  file_.reset(gzopen(path.c_str(), "rb"));
  if (!file_) refuse(whole(), "the file cannot be read", "check its permissions");
  gzbuffer(file_.get(), zlib_buffer);
}

Where CompressedFile::whole() const {
  Where where;
  where.file = shown_;
  return where;
}

Where CompressedFile::last_place() const {
  auto where = whole();
  where.line = line_;
  where.column = column_;
  const auto* last = gptr() == eback() ? gptr() : gptr() - 1;
  advance(where.line, where.column, eback(), last);
  return where;
}

void CompressedFile::check() const {
  int error = Z_OK;
  std::string_view message = gzerror(file_.get(), &error);
  message.remove_prefix(std::min(message.rfind(": ") + 2, message.size()));  // the file's whole path
  constexpr const char* copy_again = "copy it again, or record it again";
  if (error == Z_BUF_ERROR) refuse(whole(), "the gzip data is cut off before its end", copy_again);
  if (error == Z_ERRNO) refuse(whole(), fmt::format("the file cannot be read: {}", std::strerror(errno)));
  if (error != Z_OK && error != Z_STREAM_END)
    refuse(whole(), fmt::format("the gzip data is damaged ({})", message), copy_again);
}

void CompressedFile::read_to_end() {
  while (!at_end_) {
    setg(eback(), egptr(), egptr());
    underflow();
  }
}

CompressedFile::int_type CompressedFile::underflow() {
  before_ = size();
  advance(line_, column_, eback(), egptr());
  setg(part_.data(), part_.data(), part_.data());
  const auto count = gzread(file_.get(), part_.data(), static_cast<unsigned>(part_.size()));
  at_end_ = count <= 0;
  if (at_end_) return traits_type::eof();
  setg(part_.data(), part_.data(), part_.data() + count);
  return traits_type::to_int_type(*gptr());
}

}  // namespace gradway
