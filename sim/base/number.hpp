// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>

namespace gradway {

/// Same as std::from_chars for integers.
template <class Number>
std::from_chars_result read_number(const char* first, const char* last, Number& value) {
  return std::from_chars(first, last, value);
}

/// std::from_chars of a double with strtod, for libraries that lack it, such as clang's before version 20.
/// Differs in one thing: "nan(text)" ends after "nan".
std::from_chars_result read_double_by_strtod(const char* first, const char* last, double& value);

inline std::from_chars_result read_number(const char* first, const char* last, double& value) {
#if defined(__cpp_lib_to_chars)
  return std::from_chars(first, last, value);
#else
  return read_double_by_strtod(first, last, value);
#endif
}

}  // namespace gradway
