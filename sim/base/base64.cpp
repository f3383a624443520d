// SPDX-License-Identifier: Apache-2.0
#include "sim/base/base64.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace gradway {

std::string base64(std::string_view bytes) {
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t start = 0; start < bytes.size(); start += 3) {
    const auto count = std::min<std::size_t>(3, bytes.size() - start);
    std::uint32_t bits = 0;
    for (std::size_t i = 0; i < 3; ++i)
      bits = bits << 8 | (i < count ? static_cast<unsigned char>(bytes[start + i]) : 0U);
    for (std::size_t i = 0; i < 4; ++i) text += i <= count ? digits[bits >> (18 - 6 * i) & 63U] : '=';
  }
  return text;
}

}  // namespace gradway
