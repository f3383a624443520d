// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "sim/base/units.hpp"

namespace gradway {

// Values as a calibration file has them, to four or five digits.
std::string quoted(std::string_view text);
std::string time_text(Seconds time);
std::string rate_text(BytesPerSecond rate);
std::string compute_text(FlopsPerSecond rate);
std::string percent_text(double fraction);

/// The word that stands for an enumerator. @pre a word for each
template <class Enum, std::size_t size>
std::string_view word_of(const std::array<std::string_view, size>& words, Enum value) {
  return words[static_cast<std::size_t>(value)];
}

}  // namespace gradway
