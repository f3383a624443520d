// SPDX-License-Identifier: Apache-2.0
#include "sim/config/yaml/text_table.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "sim/base/nearest.hpp"
#include "sim/base/number.hpp"
#include "sim/base/printable.hpp"

namespace gradway::config {
namespace {

constexpr bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r';
}

template <class Number>
bool reads(std::string_view word, Number& value) {
  const auto [end, error] = read_number(word.data(), word.data() + word.size(), value);
  return error == std::errc{} && end == word.data() + word.size();
}

template <class Number>
void check_range(const Cell& cell, std::string_view thing, Number value, Number least, Number most) {
  if (value >= least && value <= most) return;
  fail(cell.where(), fmt::format("{} must be from {} to {}, found '{}'", thing, least, most, cell.word()));
}

}  // namespace

Where Cell::where() const {
  const auto start = static_cast<std::size_t>(word_.data() - row_.data());
  const auto indent = static_cast<std::size_t>(std::max(0, table_->block_indent));
  auto text = std::string(indent, ' ').append(row_);
  if (text.ends_with('\r')) text.pop_back();
  return Where{.file = table_->where.file,
               .line = table_->where.line + 1 + line_,
               .column = 1 + static_cast<int>(indent + characters(row_.substr(0, start))),
               .length = static_cast<int>(characters(word_)),
               .text = shown_line(text)};
}

void Row::skip_blanks() {
  std::size_t count = 0;
  while (count < rest_.size() && is_blank(rest_[count])) ++count;
  rest_.remove_prefix(count);
}

Cell Row::next(std::string_view column) {
  skip_blanks();
  std::size_t length = 0;
  while (length < rest_.size() && !is_blank(rest_[length])) ++length;
  const auto word = rest_.substr(0, length);
  if (word.empty()) fail(cell(rest_).where(), fmt::format("the row ends before its column '{}'", column));
  rest_.remove_prefix(word.size());
  return cell(word);
}

Cell Row::rest(std::string_view column) {
  skip_blanks();
  if (rest_.empty()) return next(column);
  auto words = rest_;
  while (is_blank(words.back())) words.remove_suffix(1);
  return cell(words);
}

bool Row::take(std::string_view words) {
  skip_blanks();
  if (!rest_.starts_with(words) || rest_.size() == words.size() || !is_blank(rest_[words.size()]))
    return false;
  rest_.remove_prefix(words.size());
  return true;
}

void Row::finish() const {
  auto remaining = *this;
  remaining.skip_blanks();
  if (remaining.rest_.empty()) return;
  const auto extra = remaining.rest("");
  fail(extra.where(), fmt::format("unexpected '{}' after the last column", extra.word()), "remove it");
}

TextTable::TextTable(const Node& node) : node_{&node} {
  if (node.kind == Node::Kind::scalar && node.block_indent >= 0) return;
  const bool is_long = node.text.find('\n') != std::string::npos;
  fail(node.where, fmt::format("expected a table, found {}", is_long ? "text" : describe(node)),
       "write '|' after the key and the indented rows below it");
}

double number(const Cell& cell, std::string_view thing, double least, double most) {
  double value = 0;
  if (!reads(cell.word(), value) || !std::isfinite(value))
    fail(cell.where(), fmt::format("'{}' is not a number", cell.word()), fmt::format("expected {}", thing));
  check_range(cell, thing, value, least, most);
  return value;
}

std::int64_t whole_number(const Cell& cell, std::string_view thing, std::int64_t least, std::int64_t most) {
  std::int64_t value = 0;
  if (!reads(cell.word(), value))
    fail(cell.where(), fmt::format("'{}' is not a whole number", cell.word()),
         fmt::format("expected {}", thing));
  check_range(cell, thing, value, least, most);
  return value;
}

std::vector<std::int64_t> joined_numbers(const Cell& cell, std::string_view thing) {
  constexpr auto largest = std::int64_t{1} << 40;
  std::vector<std::int64_t> numbers;
  for (std::size_t start = 0; !cell.word().empty() && start <= cell.word().size();) {
    const auto end = std::min(cell.word().find('x', start), cell.word().size());
    numbers.push_back(whole_number(cell.part(start, end - start), thing, 0, largest));
    start = end + 1;
  }
  return numbers;
}

std::size_t index_among(const Cell& cell, std::string_view thing, std::span<const std::string_view> words) {
  const auto match = std::ranges::find(words, cell.word());
  if (match != words.end()) return static_cast<std::size_t>(match - words.begin());
  const std::string word{cell.word()};
  fail(cell.where(), invalid_word(thing, word),
       suggestion(word, std::vector<std::string>(words.begin(), words.end())));
}

}  // namespace gradway::config
