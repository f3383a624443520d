// SPDX-License-Identifier: Apache-2.0
#include "sim/files/gzip_stream.hpp"

#include <zlib.h>

#include <array>
#include <ostream>
#include <streambuf>

#include "sim/base/contract.hpp"

namespace gradway {
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
