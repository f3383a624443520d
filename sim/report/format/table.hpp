// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "sim/report/format/style.hpp"

namespace gradway::report {

/// Text in aligned columns, two blanks apart, without tabs and without blanks at the end of a line.
class Table {
 public:
  enum class Align { left, right };
  struct Column {
    std::string title;
    Align align = Align::left;
    int drop = 0;  ///< columns with larger numbers are dropped first if lines are too long; 0: never
  };

  /// A cell, and what its column is.
  struct Cell {
    std::string title;
    std::string text;
    Align align = Align::left;
    int drop = 0;  ///< as in Column
  };

  /// Its columns are those of the first row of cells that is added.
  Table() = default;
  explicit Table(std::vector<Column> columns) : columns_{std::move(columns)} {}
  /// @pre the same columns in all rows
  void add_cells(std::vector<Cell> cells);
  /// @pre as many cells as columns
  void add(std::vector<std::string> cells);
  /// A row whose remaining cells are replaced by a text of any length. @pre fewer cells than columns, if
  /// these are known
  void add_with_note(std::vector<std::string> cells, const std::string& note);
  bool empty() const { return rows_.empty(); }

  /// Width of the longest line, if nothing is cut.
  std::size_t width() const;

  /// Titles (unless all are empty) and rows, each after `indent`. If a line exceeds the style's table width,
  /// columns are dropped; then the first column is cut in its middle, and the other left-aligned columns.
  void write(std::ostream& out, const Style& style, std::string_view indent = "") const;

 private:
  struct Row {
    std::vector<std::string> cells;
    std::string note;  ///< after the cells; empty if there is a cell for each column
  };
  std::vector<std::size_t> widths() const;
  /// Without as many columns as needed for lines of this width.
  Table with_fewer_columns(std::size_t most_width) const;
  void write_cut(std::ostream& out, const Style& style, std::string_view indent) const;

  std::vector<Column> columns_;
  std::vector<Row> rows_;
};

}  // namespace gradway::report
