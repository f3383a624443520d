// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <utility>
#include <vector>

namespace gradway {

/// A row of a table that is a text, one row a line:
///     setting training.max_norm ours=job.clip_grad_norm why="a text with blanks"
/// Words and values with blanks are in double quotes. A row continues after a line that ends in ' \' if the
/// next one is indented. A line that begins with '#' is a comment.
struct TextRow {
  std::string_view kind;                ///< the first word: "setting"
  std::vector<std::string_view> words;  ///< the words after it without a name
  std::vector<std::pair<std::string_view, std::string_view>> values;

  /// @pre the row has this word
  std::string_view word(std::size_t position) const;
  /// "" without a value of this name.
  std::string_view value(std::string_view name) const;
  /// @pre a whole number, if there is a value of this name
  int number(std::string_view name, int otherwise) const;
  /// @pre a number, if there is a value of this name
  double real(std::string_view name, double otherwise) const;
};

/// @param text must outlive the rows @pre each quote is closed
std::vector<TextRow> rows_in(std::string_view text);

}  // namespace gradway
