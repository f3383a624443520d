// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gradway {

/// Text without blanks in it, and where it stands.
struct MatrixWord {
  std::string text;
  int column = 0;  ///< counts from 1, in what was written
  int line = 0;    ///< counts from 1
};

/// A line of a text that a terminal showed.
struct MatrixLine {
  std::vector<MatrixWord> words;
  std::string text;

  /// The words between tabs, a field's words joined; of a line without tabs a single one.
  std::vector<std::string> fields() const;
};

/// Cuts a text into lines and words. Escape sequences, such as those that underline, are left out, also those
/// that lost their escape character on the way: "[4m".
std::vector<MatrixLine> matrix_lines(std::string_view text);

}  // namespace gradway
