// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "sim/config/yaml/node.hpp"
#include "sim/config/yaml/problems.hpp"

namespace gradway::config {

/// A word of a table and its place.
class Cell {
 public:
  Cell(const Node& table, int line, std::string_view row, std::string_view word)
      : table_{&table}, line_{line}, row_{row}, word_{word} {}

  std::string_view word() const { return word_; }
  Where where() const;

  /// The part of the word that begins `start` characters in.
  Cell part(std::size_t start, std::size_t length) const {
    return {*table_, line_, row_, word_.substr(start, length)};
  }

 private:
  const Node* table_;
  int line_;
  std::string_view row_;
  std::string_view word_;
};

/// One row of a table: words between blanks.
class Row {
 public:
  Row(const Node& table, int line, std::string_view text)
      : table_{&table}, line_{line}, text_{text}, rest_{text} {}

  /// The next word. @param column its name. @throws ConfigError at the end of the row.
  Cell next(std::string_view column);

  /// Skips these words if they come next, separated by single blanks, and more words follow.
  bool take(std::string_view words);

  /// The rest of the row, which may contain blanks. @throws ConfigError if it is empty.
  Cell rest(std::string_view column);

  /// @throws ConfigError if words are left.
  void finish() const;

 private:
  Cell cell(std::string_view word) const { return {*table_, line_, text_, word}; }
  void skip_blanks();

  const Node* table_;
  int line_;
  std::string_view text_;
  std::string_view rest_;
};

/// The rows of a table that is written as a literal text, so that reading thousands of rows takes
/// milliseconds:
///
///     gradients: |
///       # after dtype shape
///         612   fp32  1000x1024
/// Empty lines and lines that start with '#' are skipped.
class TextTable {
 public:
  /// @throws ConfigError if the node is not a literal text. @param node must outlive this.
  explicit TextTable(const Node& node);

  /// Calls `read` with each row. A ConfigError is added to the problems, and reading continues with the next
  /// row.
  template <class Read>
  void for_each_row(Problems& problems, const Read& read) const {
    std::string_view unread = node_->text;
    for (int line = 0; !unread.empty(); ++line) {
      const auto end = std::min(unread.find('\n'), unread.size());
      const auto text = unread.substr(0, end);
      unread.remove_prefix(std::min(end + 1, unread.size()));
      const auto first = text.find_first_not_of(" \t\r");
      if (first == std::string_view::npos || text[first] == '#') continue;
      try {
        read(Row{*node_, line, text});
      } catch (const ConfigError& error) {
        problems.add(error);
      }
    }
  }

 private:
  const Node* node_;
};

/// The cell as a number of at least `least`. @throws ConfigError
double number(const Cell& cell, std::string_view thing, double least, double most);
std::int64_t whole_number(const Cell& cell, std::string_view thing, std::int64_t least, std::int64_t most);

/// Numbers from 0 to 2^40 joined by 'x', as in 1000x1024; none in an empty cell.
std::vector<std::int64_t> joined_numbers(const Cell& cell, std::string_view thing);

/// Index of the cell's word among `words`. @throws ConfigError with the nearest of them.
std::size_t index_among(const Cell& cell, std::string_view thing, std::span<const std::string_view> words);

}  // namespace gradway::config
