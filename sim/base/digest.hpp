// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace gradway {

/// Tells texts apart by a number: FNV-1a, 64 bits. Not for secrets.
/// @source Fowler, Noll, Vo; http://www.isthe.com/chongo/tech/comp/fnv
class Digest {
 public:
  /// Adds a text and its end, so that ("ab", "c") and ("a", "bc") differ.
  void add(std::string_view text);
  /// Adds a text and its end eight bytes at a time, which is quicker; it counts as another text than with
  /// add().
  void add_in_words(std::string_view text);
  /// Adds texts that were added to another.
  void add(const Digest& texts);
  /// 16 hexadecimal digits.
  std::string hex() const;

 private:
  void add_byte(unsigned char byte);
  void add_number(std::uint64_t number);

  std::uint64_t value_ = 14695981039346656037u;
};

}  // namespace gradway
