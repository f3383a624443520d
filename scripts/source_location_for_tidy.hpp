// SPDX-License-Identifier: Apache-2.0
#pragma once

// Replacement for libstdc++'s std::source_location, which clang 14 does not support; clang-tidy includes this
// file before each source.
namespace std {

struct source_location {
  static constexpr source_location current() noexcept { return {}; }
  static constexpr unsigned line() noexcept { return 0; }
  static constexpr const char* file_name() noexcept { return ""; }
  static constexpr const char* function_name() noexcept { return ""; }
};

}  // namespace std
