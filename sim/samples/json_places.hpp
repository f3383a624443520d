// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "sim/base/problem.hpp"

namespace gradway {

/// Where things stand in the text of a JSON list of rows, for messages. Searches the text anew at each call.
/// @pre the text is JSON, but for `at`
class JsonPlaces {
 public:
  /// @param text must outlive this.
  JsonPlaces(std::string file, std::string_view text) : file_{std::move(file)}, text_{text} {}

  Where whole() const;
  /// A byte of the text and `length` bytes from there.
  Where at(std::size_t offset, std::size_t length) const;
  /// The row's first character. @param index counts from 0
  Where row(std::size_t index) const;
  /// The value of a row's key; the row if it has no such key.
  Where value(std::size_t index, std::string_view key) const;

 private:
  std::string file_;
  std::string_view text_;
};

}  // namespace gradway
