// SPDX-License-Identifier: Apache-2.0
#include "readers/chakra/wire.hpp"

#include <bit>

namespace gradway {
namespace {

constexpr unsigned bits_of_type = 3;
constexpr unsigned bits_of_digit = 7;
constexpr std::uint64_t digit_mask = 0x7f;
constexpr std::uint64_t more_bytes_follow = 0x80;

void put_tag(std::string& out, std::uint32_t number, WireField::Type type) {
  put_varint(out, std::uint64_t{number} << bits_of_type | static_cast<std::uint64_t>(type));
}

}  // namespace

std::optional<std::uint64_t> WireReader::varint() {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64 && at_ < message_.size(); shift += bits_of_digit) {
    const auto byte = static_cast<unsigned char>(message_[at_++]);
    value |= (byte & digit_mask) << shift;
    if ((byte & more_bytes_follow) == 0) return value;
  }
  return std::nullopt;
}

std::optional<std::string_view> WireReader::bytes(std::uint64_t count) {
  if (count > message_.size() - at_) return std::nullopt;
  const auto taken = message_.substr(at_, count);
  at_ += count;
  return taken;
}

std::optional<std::uint64_t> WireReader::fixed(std::size_t size) {
  const auto encoded = bytes(size);
  if (!encoded) return std::nullopt;
  std::uint64_t value = 0;
  for (std::size_t i = size; i-- > 0;) value = value << 8U | static_cast<unsigned char>((*encoded)[i]);
  return value;
}

std::optional<WireField> WireReader::next() {
  const auto tag = varint();
  constexpr std::uint64_t largest_number = (1U << 29U) - 1;
  if (!tag || *tag >> bits_of_type == 0 || *tag >> bits_of_type > largest_number) return std::nullopt;
  WireField field{.number = static_cast<std::uint32_t>(*tag >> bits_of_type)};
  std::optional<std::uint64_t> value;
  switch (*tag & 7U) {
    case 0:
      value = varint();
      break;
    case 1:
      field.type = WireField::Type::fixed64;
      value = fixed(8);
      break;
    case 2: {
      field.type = WireField::Type::bytes;
      value = varint();
      const auto content = value ? bytes(*value) : std::nullopt;
      if (!content) return std::nullopt;
      field.bytes = *content;
      break;
    }
    case 5:
      field.type = WireField::Type::fixed32;
      value = fixed(4);
      break;
    default:
      return std::nullopt;
  }
  if (!value) return std::nullopt;
  field.value = *value;
  return field;
}

void put_varint(std::string& out, std::uint64_t value) {
  while (value >= more_bytes_follow) {
    out += static_cast<char>(value | more_bytes_follow);
    value >>= bits_of_digit;
  }
  out += static_cast<char>(value);
}

void put_number(std::string& out, std::uint32_t number, std::uint64_t value) {
  put_tag(out, number, WireField::Type::varint);
  put_varint(out, value);
}

void put_bytes(std::string& out, std::uint32_t number, std::string_view bytes) {
  put_tag(out, number, WireField::Type::bytes);
  put_varint(out, bytes.size());
  out += bytes;
}

void put_double(std::string& out, std::uint32_t number, double value) {
  put_tag(out, number, WireField::Type::fixed64);
  const auto bits = std::bit_cast<std::uint64_t>(value);
  for (unsigned shift = 0; shift < 64; shift += 8) out += static_cast<char>(bits >> shift & 0xffU);
}

}  // namespace gradway
