// SPDX-License-Identifier: Apache-2.0
#include "sim/base/digest.hpp"

#include <cstring>

#include <fmt/format.h>

namespace gradway {

namespace {
constexpr std::uint64_t prime = 1099511628211u;
}  // namespace

void Digest::add_byte(unsigned char byte) {
  value_ = (value_ ^ byte) * prime;
}

void Digest::add(std::string_view text) {
  for (const auto c : text) add_byte(static_cast<unsigned char>(c));
  add_number(text.size());
}

void Digest::add_in_words(std::string_view text) {
  std::uint64_t word = 0;
  const auto tail = text.substr(text.size() - text.size() % sizeof word);
  for (const auto* position = text.data(); position != tail.data(); position += sizeof word) {
    std::memcpy(&word, position, sizeof word);
    value_ = (value_ ^ word) * prime;
    value_ ^= value_ >> 32u;  // in a product, high bits do not affect low bits
  }
  add(tail);
  add_number(text.size());
}

void Digest::add(const Digest& texts) {
  add_number(texts.value_);
}

void Digest::add_number(std::uint64_t number) {
  for (std::size_t i = 0; i < sizeof number; ++i) add_byte(static_cast<unsigned char>(number >> (8 * i)));
}

std::string Digest::hex() const {
  return fmt::format("{:016x}", value_);
}

}  // namespace gradway
