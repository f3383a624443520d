// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "sim/base/units.hpp"

namespace gradway {

// Values as written in calibration files, to four or five digits.
std::string quoted_text(std::string_view text);
std::string time_text(Seconds time);
std::string rate_text(BytesPerSecond rate);
std::string compute_text(FlopsPerSecond rate);
std::string percent_text(double fraction);

/// The word for an enumerator. @pre there is a word for each
template <class Enum, std::size_t size>
std::string_view word_of(const std::array<std::string_view, size>& words, Enum value) {
  return words[static_cast<std::size_t>(value)];
}

/// Text as one line of plain ASCII without blanks at its ends: what a probe reads may contain anything.
std::string ascii_line(std::string_view text);

/// Text wrapped at blanks to lines of at most 118 characters that begin with `start`.
std::string wrapped(std::string_view start, std::string_view text);

}  // namespace gradway
