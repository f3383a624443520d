// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gradway {

// The part of the Protocol Buffers encoding that Chakra needs (decision 0056).
// @source https://protobuf.dev/programming-guides/encoding

/// A field of a message.
struct WireField {
  enum class Type : std::uint8_t { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };
  std::uint32_t number = 0;
  Type type = Type::varint;
  std::uint64_t value = 0;   ///< Bits of a number.
  std::string_view bytes{};  ///< Contents of a text, a message or a packed list.
};

/// Reads the fields of a message in order, never beyond its end.
class WireReader {
 public:
  explicit WireReader(std::string_view message) : message_{message} {}

  bool at_end() const { return at_ == message_.size(); }
  std::size_t offset() const { return at_; }
  /// Empty if the message is damaged: a number or a length that exceeds it, or an unknown type.
  std::optional<WireField> next();
  /// A number of variable length; empty as in `next`.
  std::optional<std::uint64_t> varint();
  /// The next `count` bytes; empty as in `next`.
  std::optional<std::string_view> bytes(std::uint64_t count);

 private:
  std::optional<std::uint64_t> fixed(std::size_t size);

  std::string_view message_;
  std::size_t at_ = 0;
};

void put_varint(std::string& out, std::uint64_t value);
/// Writes a number as a field of type varint.
void put_number(std::string& out, std::uint32_t number, std::uint64_t value);
void put_bytes(std::string& out, std::uint32_t number, std::string_view bytes);
void put_double(std::string& out, std::uint32_t number, double value);

}  // namespace gradway
