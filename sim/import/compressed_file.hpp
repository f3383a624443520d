// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <zlib.h>

#include <array>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <streambuf>
#include <string>

#include "sim/base/problem.hpp"

namespace gradway {

/// The characters of a file, unpacked on the way if it is gzip: in constant memory, whatever its size.
///
/// zlib rather than Boost.Iostreams: its gzread() takes packed and plain files alike, and is all we need.
class CompressedFile final : public std::streambuf {
 public:
  /// @param shown the file's name in messages.
  /// @throws ConfigError if it is missing, a folder or unreadable.
  CompressedFile(const std::filesystem::path& path, std::string shown);

  /// The file as a whole, for messages.
  Where whole() const;

  /// The place of the character that was read last.
  Where last_place() const;

  /// Characters handed out so far; exact at the end of the file.
  std::size_t size() const { return before_ + static_cast<std::size_t>(gptr() - eback()); }

  /// Someone asked for more characters than there are.
  bool at_end() const { return at_end_; }

  void read_to_end();

  /// @throws ConfigError if the end that was met is no real end: packed data that is damaged or cut off, a
  /// disk that fails.
  void check() const;

 protected:
  int_type underflow() override;

 private:
  struct Close {
    void operator()(gzFile file) const { gzclose(file); }
  };
  std::string shown_;
  std::unique_ptr<gzFile_s, Close> file_;
  std::array<char, 1 << 16> part_{};
  std::size_t before_ = 0;  ///< characters before this part
  int line_ = 1;            ///< of the part's first character, and its column
  int column_ = 1;
  bool at_end_ = false;
};

}  // namespace gradway
