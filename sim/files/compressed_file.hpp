// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <iosfwd>
#include <limits>
#include <memory>
#include <streambuf>
#include <string>

#include <zlib.h>

#include "sim/base/problem.hpp"

namespace gradway {

/// A line and a column, counted from 1.
struct Position {
  int line = 1;
  int column = 1;
};

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

  /// Position of the last character read. Counts from the position of the previous call.
  Position last_position();
  Where last_place();

  /// Number of characters read so far; exact at the end of the file.
  std::size_t size() const { return before_ + static_cast<std::size_t>(gptr() - eback()); }

  /// A value begins after what was read. From the first call on, values longer than any program writes are
  /// rejected, before the reader has to store them. @throws ConfigError then, from reading
  void begin_value();

  /// The end of the file was reached.
  bool at_end() const { return at_end_; }

  /// Reads on, within a limit, so that `check` finds damage further on.
  void read_to_end();

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
  std::size_t before_ = 0;  ///< Characters before this part.
  /// Maximum number of characters that may be read.
  std::size_t most_ = std::numeric_limits<std::size_t>::max();
  Position at_;  ///< Position of the character at `counted_`.
  char* counted_ = part_.data();
  bool at_end_ = false;
};

/// Writes text compressed by gzip. The same text gives the same bytes: the stream contains neither a name nor
/// a time.
/// @param write receives the stream for the text
void write_gzip(std::ostream& out, const std::function<void(std::ostream&)>& write);

}  // namespace gradway
