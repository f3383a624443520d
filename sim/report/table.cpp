// SPDX-License-Identifier: Apache-2.0
#include "sim/report/table.hpp"

#include <algorithm>
#include <numeric>
#include <ostream>

#include <fmt/format.h>

#include "sim/base/contract.hpp"
#include "sim/report/text.hpp"

namespace gradway::report {
namespace {

constexpr std::size_t gap = 2;
constexpr std::size_t narrowest = 8;  // no column is cut below this

}  // namespace

void Table::add(std::vector<std::string> cells) {
  expects(cells.size() == columns_.size(), "a row has a cell for each column");
  for (auto& cell : cells) cell = one_line(cell);
  rows_.push_back(std::move(cells));
}

std::vector<std::size_t> Table::widths() const {
  std::vector<std::size_t> widths;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    auto width = columns_of(columns_[c].title);
    for (const auto& row : rows_) width = std::max(width, columns_of(row[c]));
    widths.push_back(width);
  }
  return widths;
}

std::size_t Table::width() const {
  const auto each = widths();
  return std::accumulate(each.begin(), each.end(), gap * (each.size() - 1));
}

void Table::write(std::ostream& out, const Style& style, std::string_view indent) const {
  auto widths = this->widths();
  const auto total = columns_of(indent) + width();
  auto excess = total > style.width ? total - style.width : 0;
  for (std::size_t c = 0; c < columns_.size() && excess > 0; ++c) {
    if (columns_[c].align == Align::right && c > 0) continue;
    const auto cut = std::min(excess, widths[c] - std::min(narrowest, widths[c]));
    widths[c] -= cut;
    excess -= cut;
  }

  const auto line = [&](const auto& cell_of) {
    std::string text{indent};
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      const auto cell = fit(cell_of(c), widths[c]);
      const std::string padding(widths[c] - columns_of(cell), ' ');
      text += columns_[c].align == Align::left ? cell + padding : padding + cell;
      text.append(gap, ' ');
    }
    text.erase(text.find_last_not_of(' ') + 1);
    return text;
  };
  if (!std::ranges::all_of(columns_, [](const Column& column) { return column.title.empty(); })) {
    out << style.paint(Paint::dim, line([&](std::size_t c) { return columns_[c].title; })) << '\n';
  }
  for (const auto& row : rows_) out << line([&](std::size_t c) { return row[c]; }) << '\n';
}

}  // namespace gradway::report
