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
#include "sim/files/text_file.hpp"

namespace gradway {
namespace {

constexpr unsigned zlib_buffer = 1 << 18;

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

std::size_t CompressedFile::read(char* to, std::size_t count) {
  return static_cast<std::size_t>(std::max(0, gzread(file_.get(), to, static_cast<unsigned>(count))));
}

CompressedFile::int_type CompressedFile::underflow() {
  const auto count = read(part_.data(), part_.size());
  setg(part_.data(), part_.data(), part_.data() + count);
  return count == 0 ? traits_type::eof() : traits_type::to_int_type(*gptr());
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
