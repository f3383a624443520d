// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "readers/kineto/read/trace.hpp"
#include "sim/base/printable.hpp"
#include "sim/files/compressed_file.hpp"

namespace gradway {

/// The text of a trace as a stream of RapidJSON that is parsed in place: strings are decoded where they were
/// read. Holds what follows the last token; memory does not grow with the file. A NUL character is the end.
class TraceText {
 public:
  using Ch = char;

  explicit TraceText(CompressedFile& file);

  // NOLINTBEGIN(readability-identifier-naming): names of RapidJSON
  [[gnu::always_inline]] Ch Peek() {
    if (*next_ == '\0' && next_ == end_) read_more();
    return *next_;
  }
  [[gnu::always_inline]] Ch Take() {
    const Ch c = Peek();
    if (next_ == end_) return c;
    if (!starts_character(c)) ++line_.continued;
    ++next_;
    return c;
  }
  std::size_t Tell() const { return size(); }
  Ch* PutBegin() {
    puts_ = 0;
    return decoded_ = next_;
  }
  void Put(Ch c) {
    ++puts_;
    *decoded_++ = c;
  }
  std::size_t PutEnd(const Ch* begin) const { return static_cast<std::size_t>(decoded_ - begin); }
  // NOLINTEND(readability-identifier-naming)

  /// Copies characters of a string that stand for themselves. @return whether there were any
  bool take_plain();
  /// Skips white space, and forgets the tokens before it. RapidJSON prefers it to its function for any
  /// stream.
  friend void SkipWhitespace(TraceText& text) { text.skip_space(); }

  /// The string of the last event consists of printable ASCII characters alone.
  bool is_plain() const { return puts_ <= 1; }  // The NUL character at its end.
  /// The number of the last event, of this length.
  std::string_view number(std::size_t length) const { return {next_ - length, length}; }

  /// Position of the last character read; at the end of the file, that after it.
  Position last_position() const;
  Where last_place() const;
  const CompressedFile& file() const { return file_; }

  /// A value begins after what was read. Values longer than any program writes are refused.
  void begin_value() { value_ = size(); }

  /// The end of the file was reached.
  bool at_end() const { return at_end_; }
  /// Number of characters read so far.
  std::size_t size() const { return before_ + static_cast<std::size_t>(next_ - buffer_.get()); }

  /// Reads on, within a limit, so that CompressedFile::check() finds damage further on.
  void read_to_end();

 private:
  struct Line {
    int number = 1;
    std::size_t begin = 0;      ///< Offset of its first character.
    std::size_t continued = 0;  ///< Bytes that continue a character of UTF-8.
  };

  void skip_space();
  void read_more();

  CompressedFile& file_;
  std::unique_ptr<char[]> buffer_;
  char* next_;              ///< Next character to read.
  char* end_;               ///< After the last character of the buffer, which a NUL character follows.
  char* decoded_;           ///< End of what the string contains so far.
  std::size_t puts_ = 0;    ///< Characters of the string that were not copied as plain ones.
  std::size_t before_ = 0;  ///< Characters of the file before the buffer.
  std::size_t value_ = 0;   ///< Offset at which the value begins.
  Line line_;               ///< Of the next character.
  Line last_line_;          ///< The line before that.
  bool at_end_ = false;
};

}  // namespace gradway
