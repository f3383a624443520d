// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <zlib.h>

#include <array>
#include <cstddef>
#include <filesystem>
#include <limits>
#include <memory>
#include <streambuf>
#include <string>

#include "sim/base/problem.hpp"

namespace gradway {

/// A line and a column, counted from 1.
struct Position {
  int line = 1;
  int column = 1;
};

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

  /// The place of the character that was read last. Counts on from the place that was asked for last.
  Position last_position();
  Where last_place();

  /// Characters handed out so far; exact at the end of the file.
  std::size_t size() const { return before_ + static_cast<std::size_t>(gptr() - eback()); }

  /// A value begins behind what was read. From the first call on, a value that is longer than any program
  /// writes is refused, before who reads it has to hold it. @throws ConfigError then, from reading
  void begin_value();

  /// Someone asked for more characters than there are.
  bool at_end() const { return at_end_; }

  /// Reads on, so that `check` finds what is damaged further on; not without an end.
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
  std::size_t before_ = 0;                                      ///< characters before this part
  std::size_t most_ = std::numeric_limits<std::size_t>::max();  ///< characters that may be handed out
  Position at_;                                                 ///< of the character at `counted_`
  char* counted_ = part_.data();
  bool at_end_ = false;
};

}  // namespace gradway
