// SPDX-License-Identifier: Apache-2.0
#include "sim/files/compressed_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>

#include <fmt/format.h>

#include "sim/base/open_file.hpp"
#include "sim/base/printable.hpp"
#include "sim/files/text_file.hpp"

namespace gradway {
namespace {

constexpr unsigned zlib_buffer = 1 << 18;
constexpr std::size_t longest_value = 16'000'000;  // In characters. The longest values are call stacks.

/// Advances a position over a text. Columns count characters of UTF-8.
void advance(int& line, int& column, const char* begin, const char* end) {
  const std::string_view text{begin, static_cast<std::size_t>(end - begin)};
  const auto last_break = text.rfind('\n');
  if (last_break != std::string_view::npos) {
    line += static_cast<int>(std::ranges::count(text, '\n'));
    column = 1;
  }
  const auto last_line = text.substr(last_break == std::string_view::npos ? 0 : last_break + 1);
  column += static_cast<int>(characters(last_line));
}

}  // namespace

CompressedFile::CompressedFile(const std::filesystem::path& path, std::string shown)
    : shown_{std::move(shown)} {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) refuse_at(whole(), "this is a folder, not a file", "");
  if (!std::filesystem::exists(path, ignored)) refuse_at(whole(), "there is no such file", "");
  const int opened = open_without_waiting(path);
  if (opened >= 0) file_.reset(gzdopen(opened, "rb"));
  if (!file_) refuse_at(whole(), "the file cannot be read", "check its permissions");
  gzbuffer(file_.get(), zlib_buffer);
  setg(part_.data(), part_.data(), part_.data());
}

Where CompressedFile::whole() const {
  Where where;
  where.file = shown_;
  return where;
}

Position CompressedFile::last_position() {
  auto* const last = gptr() == eback() ? gptr() : gptr() - 1;
  if (counted_ < last) advance(at_.line, at_.column, counted_, last);
  counted_ = std::max(counted_, last);
  return at_;
}

Where CompressedFile::last_place() {
  auto where = whole();
  where.line = last_position().line;
  where.column = at_.column;
  return where;
}

void CompressedFile::begin_value() {
  most_ = size() + longest_value;
}

void CompressedFile::check() const {
  int error = Z_OK;
  std::string_view message = gzerror(file_.get(), &error);
  message.remove_prefix(std::min(message.rfind(": ") + 2, message.size()));  // The file's whole path.
  constexpr const char* copy_again = "copy it again, or record it again";
  if (error == Z_BUF_ERROR) refuse_at(whole(), "the gzip data is truncated", copy_again);
  if (error == Z_ERRNO)
    refuse_at(whole(), fmt::format("the file cannot be read: {}", std::strerror(errno)), "");
  if (error != Z_OK && error != Z_STREAM_END)
    refuse_at(whole(), fmt::format("the gzip data is damaged ({})", message), copy_again);
}

void CompressedFile::read_to_end() {
  constexpr std::size_t far_enough = 100'000'000;  // A compressed megabyte may decompress to gigabytes.
  most_ = std::numeric_limits<std::size_t>::max();
  for (const auto end = size() + far_enough; !at_end_ && size() < end;) {
    setg(eback(), egptr(), egptr());
    underflow();
  }
}

CompressedFile::int_type CompressedFile::underflow() {
  before_ = size();
  advance(at_.line, at_.column, counted_, egptr());
  counted_ = part_.data();
  setg(part_.data(), part_.data(), part_.data());
  if (before_ > most_) {
    refuse_at(last_place(), fmt::format("a single value is longer than {} MB", longest_value / 1'000'000),
              "check whether the file is damaged: no program writes such a value");
  }
  const auto count = gzread(file_.get(), part_.data(), static_cast<unsigned>(part_.size()));
  at_end_ = count <= 0;
  if (at_end_) return traits_type::eof();
  setg(part_.data(), part_.data(), part_.data() + count);
  return traits_type::to_int_type(*gptr());
}

}  // namespace gradway
