// SPDX-License-Identifier: Apache-2.0
#include "sim/report/format/table.hpp"

#include <algorithm>
#include <numeric>
#include <ostream>

#include <fmt/format.h>

#include "sim/base/contract.hpp"
#include "sim/report/format/text.hpp"

namespace gradway::report {
namespace {

constexpr std::size_t gap = 2;
constexpr std::size_t narrowest_column = 8;  // no column is cut below this

}  // namespace

void Table::add(std::vector<std::string> cells) {
  expects(cells.size() == columns_.size(), "a row has a cell for each column");
  for (auto& cell : cells) cell = one_line(cell);
  rows_.push_back({std::move(cells), ""});
}

void Table::add_cells(std::vector<Cell> cells) {
  const bool is_first = columns_.empty();
  std::vector<std::string> texts;
  for (auto& cell : cells) {
    if (is_first) columns_.push_back({std::move(cell.title), cell.align, cell.drop});
    texts.push_back(std::move(cell.text));
  }
  add(std::move(texts));
}

void Table::add_with_note(std::vector<std::string> cells, const std::string& note) {
  expects(columns_.empty() || cells.size() < columns_.size(), "a note replaces the remaining cells");
  for (auto& cell : cells) cell = one_line(cell);
  rows_.push_back({std::move(cells), one_line(note)});
}

std::vector<std::size_t> Table::widths() const {
  std::vector<std::size_t> widths;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    auto width = columns_of(columns_[c].title);
    for (const auto& row : rows_) {
      if (c < row.cells.size()) width = std::max(width, columns_of(row.cells[c]));
    }
    widths.push_back(width);
  }
  return widths;
}

std::size_t Table::width() const {
  const auto column_widths = widths();
  auto width = std::accumulate(column_widths.begin(), column_widths.end(), gap * (column_widths.size() - 1));
  for (const auto& [cells, note] : rows_) {
    if (note.empty()) continue;
    const auto end = column_widths.begin() + static_cast<std::ptrdiff_t>(cells.size());
    width =
        std::max(width, std::accumulate(column_widths.begin(), end, gap * cells.size()) + columns_of(note));
  }
  return width;
}

Table Table::with_fewer_columns(std::size_t most_width) const {
  auto table = *this;
  const auto width_of_cells = [&] {
    const auto column_widths = table.widths();
    return std::accumulate(column_widths.begin(), column_widths.end(), gap * (column_widths.size() - 1));
  };
  while (width_of_cells() > most_width) {
    auto& columns = table.columns_;
    const auto next = std::ranges::max_element(columns, {}, &Column::drop);
    if (next->drop == 0) break;
    const auto index = next - columns.begin();
    columns.erase(next);
    for (auto& row : table.rows_)
      if (index < std::ssize(row.cells)) row.cells.erase(row.cells.begin() + index);
  }
  return table;
}

void Table::write(std::ostream& out, const Style& style, std::string_view indent) const {
  const auto most_width = style.table_width - std::min(style.table_width, columns_of(indent));
  with_fewer_columns(most_width).write_cut(out, style, indent);
}

void Table::write_cut(std::ostream& out, const Style& style, std::string_view indent) const {
  const auto total = columns_of(indent) + width();
  auto widths = this->widths();
  auto excess = total > style.table_width ? total - style.table_width : 0;
  for (std::size_t c = 0; c < columns_.size() && excess > 0; ++c) {
    if (columns_[c].align == Align::right && c > 0) continue;
    const auto cut = std::min(excess, widths[c] - std::min(narrowest_column, widths[c]));
    widths[c] -= cut;
    excess -= cut;
  }

  const auto line = [&](const std::vector<std::string>& cells, const std::string& note) {
    std::string text{indent};
    for (std::size_t c = 0; c < cells.size(); ++c) {
      const auto cell = fit(cells[c], widths[c]);
      const std::string padding(widths[c] - columns_of(cell), ' ');
      text += columns_[c].align == Align::left ? cell + padding : padding + cell;
      text.append(gap, ' ');
    }
    text += note;
    text.erase(text.find_last_not_of(' ') + 1);
    return text;
  };
  std::vector<std::string> titles;
  for (const auto& column : columns_) titles.push_back(column.title);
  if (!std::ranges::all_of(titles, &std::string::empty))
    out << style.paint(Paint::dim, line(titles, "")) << '\n';
  for (const auto& row : rows_) out << line(row.cells, row.note) << '\n';
}

}  // namespace gradway::report
