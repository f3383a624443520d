// SPDX-License-Identifier: Apache-2.0
#include "sim/files/compressed_file.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <ostream>
#include <streambuf>
#include <string_view>

#include <fmt/format.h>
#include <zlib.h>

#include "sim/base/contract.hpp"
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

void CompressedFile::check(bool may_be_truncated) const {
  int error = Z_OK;
  std::string_view message = gzerror(file_.get(), &error);
  message.remove_prefix(std::min(message.rfind(": ") + 2, message.size()));  // The file's whole path.
  constexpr const char* copy_again = "copy it again, or record it again";
  if (error == Z_BUF_ERROR && may_be_truncated) return;
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

namespace {

/// Compresses what is written to it.
class GzipBuffer final : public std::streambuf {
 public:
  explicit GzipBuffer(std::ostream& out) : out_{out} {
    constexpr int gzip_format = 16;  // Added to the window size.
    constexpr int memory_level = 8;  // The default of zlib.
    const int result = deflateInit2(&stream_, Z_BEST_SPEED, Z_DEFLATED, MAX_WBITS + gzip_format, memory_level,
                                    Z_DEFAULT_STRATEGY);
    expects(result == Z_OK, "zlib can compress");
    setp(text_.data(), text_.data() + text_.size());
  }
  ~GzipBuffer() override { deflateEnd(&stream_); }
  GzipBuffer(const GzipBuffer&) = delete;
  GzipBuffer& operator=(const GzipBuffer&) = delete;

  void finish() { compress(Z_FINISH); }

 protected:
  int_type overflow(int_type c) override {
    compress(Z_NO_FLUSH);
    if (!out_) return traits_type::eof();
    if (!traits_type::eq_int_type(c, traits_type::eof())) sputc(traits_type::to_char_type(c));
    return traits_type::not_eof(c);
  }

 private:
  void compress(int flush) {
    stream_.next_in = reinterpret_cast<Bytef*>(pbase());
    stream_.avail_in = static_cast<uInt>(pptr() - pbase());
    do {
      stream_.next_out = packed_.data();
      stream_.avail_out = static_cast<uInt>(packed_.size());
      deflate(&stream_, flush);
      out_.write(reinterpret_cast<const char*>(packed_.data()),
                 static_cast<std::streamsize>(packed_.size() - stream_.avail_out));
    } while (stream_.avail_out == 0);
    setp(text_.data(), text_.data() + text_.size());
  }

  std::ostream& out_;
  z_stream stream_{};
  std::array<char, 1 << 16> text_{};
  std::array<Bytef, 1 << 16> packed_{};
};

}  // namespace

void write_gzip(std::ostream& out, const std::function<void(std::ostream&)>& write) {
  GzipBuffer buffer{out};
  std::ostream text{&buffer};
  write(text);
  buffer.finish();
}

}  // namespace gradway
