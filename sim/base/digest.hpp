// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace gradway {

/// 64-bit FNV-1a hash of texts. Not cryptographic.
/// @source Fowler, Noll, Vo; http://www.isthe.com/chongo/tech/comp/fnv
class Digest {
 public:
  /// Adds a text and its length, so that ("ab", "c") and ("a", "bc") differ.
  void add(std::string_view text);
  /// Adds a text and its length eight bytes at a time. Faster than `add`, with a different result.
  void add_in_words(std::string_view text);
  /// Adds everything that was added to another digest.
  void add(const Digest& texts);
  /// The hash as 16 hexadecimal digits.
  std::string hex() const;

 private:
  void add_byte(unsigned char byte);
  void add_number(std::uint64_t number);

  std::uint64_t value_ = 14695981039346656037u;
};

}  // namespace gradway
