// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace gradway {

inline bool contains(std::string_view text, std::string_view fragment) {
  return text.find(fragment) != std::string_view::npos;
}

/// Whether it is a letter of ASCII, in every locale.
inline bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

}  // namespace gradway
