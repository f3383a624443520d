// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <iosfwd>
#include <memory>
#include <streambuf>
#include <string>

#include <zlib.h>

#include "sim/base/problem.hpp"

namespace gradway {

/// The characters of a file, decompressed if it is gzip, in constant memory.
///
/// We use zlib rather than Boost.Iostreams: its gzread() reads compressed and plain files alike.
class CompressedFile final : public std::streambuf {
 public:
  /// @param shown the file's name in messages.
  /// @throws ConfigError if it is missing, a folder or unreadable.
  CompressedFile(const std::filesystem::path& path, std::string shown);

  /// The whole file, for messages.
  Where whole() const;

  /// Reads up to `count` characters beyond those of the stream. @return their number: 0 at the end
  std::size_t read(char* to, std::size_t count);

  /// @throws ConfigError if the end is not the real end: compressed data that is damaged or truncated, a
  /// failing disk.
  void check(bool may_be_truncated = false) const;

 protected:
  int_type underflow() override;

 private:
  struct Close {
    void operator()(gzFile file) const { gzclose(file); }
  };
  std::string shown_;
  std::unique_ptr<gzFile_s, Close> file_;
  std::array<char, 1 << 16> part_{};
};

/// Writes text compressed by gzip. The same text gives the same bytes: the stream contains neither a name nor
/// a time.
/// @param write receives the stream for the text
void write_gzip(std::ostream& out, const std::function<void(std::ostream&)>& write);

}  // namespace gradway
