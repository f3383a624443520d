// SPDX-License-Identifier: Apache-2.0
#include "sim/report/format/text.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>
#include <string_view>

#include <fmt/format.h>

#include "sim/base/contract.hpp"
#include "sim/base/number.hpp"
#include "sim/base/printable.hpp"
#include "sim/scenario/value_text.hpp"

namespace gradway::report {
namespace {

struct Scale {
  std::string_view name;
  double factor;
};

constexpr std::array time_scales{Scale{"ns", 1e-9}, Scale{"us", 1e-6}, Scale{"ms", 1e-3},
                                 Scale{"s", 1},     Scale{"min", 60},  Scale{"h", 3600}};
constexpr std::array byte_scales{Scale{"B", 1},    Scale{"kB", 1e3},  Scale{"MB", 1e6},
                                 Scale{"GB", 1e9}, Scale{"TB", 1e12}, Scale{"PB", 1e15}};
constexpr std::array count_scales{Scale{"", 1},    Scale{"k", 1e3},  Scale{"M", 1e6},
                                  Scale{"G", 1e9}, Scale{"T", 1e12}, Scale{"P", 1e15}};
/// The largest scale in which the number, rounded to four digits, is at least one.
const Scale& fitting(double value, std::span<const Scale> scales) {
  const Scale* best = &scales.front();
  for (const auto& scale : scales) {
    if (std::abs(value) * (1 + 5e-5) >= scale.factor) best = &scale;
  }
  return *best;
}

std::string four_digits(double value) {
  const auto text = fmt::format("{:.4g}", value);
  return text.find('e') == std::string::npos ? text : fmt::format("{:.4}", value);
}

std::string scaled(double value, std::span<const Scale> scales, std::string_view unit) {
  if (value == 0) return unit.empty() ? "0" : fmt::format("0 {}", unit);
  const auto& scale = fitting(value, scales);
  const auto name = fmt::format("{}{}", scale.name, unit);
  const auto number = four_digits(value / scale.factor);
  return name.empty() ? number : fmt::format("{} {}", number, name);
}

/// Offset after the colour sequence (as written by `Style`) that begins at `position`; `position` if there is
/// none.
std::size_t after_colour(std::string_view text, std::size_t position) {
  constexpr std::string_view start = "\x1b[";
  if (!text.substr(position).starts_with(start)) return position;
  const auto end = text.find_first_not_of("0123456789;", position + start.size());
  return end != std::string_view::npos && text[end] == 'm' ? end + 1 : position;
}

/// Calls `visit` with the offset of each character that takes a column, until it returns false.
template <class Visit>
void for_each_column(std::string_view text, const Visit& visit) {
  for (std::size_t position = 0; position < text.size();) {
    if (const auto after = after_colour(text, position); after != position) {
      position = after;
      continue;
    }
    if (starts_character(text[position]) && !visit(position)) return;
    ++position;
  }
}

/// Byte offset of the n-th character that takes a column, or the size.
std::size_t offset_of(std::string_view text, std::size_t n) {
  auto offset = text.size();
  for_each_column(text, [&](std::size_t position) {
    if (n-- > 0) return true;
    offset = position;
    return false;
  });
  return offset;
}

bool is_number(const std::string& text) {
  // `from_chars` does not accept a plus sign.
  const auto* first = text.data() + (text.starts_with('+') ? 1 : 0);
  const auto* last = text.data() + text.size();
  double ignored = 0;
  return read_number(first, last, ignored).ptr == last && first != last;
}

/// Whether spreadsheets would evaluate the text as a formula.
/// @source OWASP, "CSV Injection"; it recommends a leading apostrophe, which spreadsheets do not show
bool is_formula(const std::string& text) {
  return !text.empty() && std::string_view{"=+-@\t\r"}.find(text.front()) != std::string_view::npos &&
         !is_number(text);
}

}  // namespace

std::string time_text(Seconds time) {
  return time.value() == 0 ? "0 s" : scaled(time.value(), time_scales, "");
}
std::string range_text(Seconds low, Seconds high) {
  auto first = time_text(low);
  const auto last = time_text(high);
  const auto unit_of = [](const std::string& text) { return text.substr(text.rfind(' ')); };
  if (unit_of(first) == unit_of(last)) first = first.substr(0, first.rfind(' '));
  return fmt::format("{} to {}", first, last);
}
std::string bytes_text(Bytes amount) {
  return amount.value() == 0 ? "0 B" : scaled(amount.value(), byte_scales, "");
}
std::string rate_text(BytesPerSecond rate) {
  return rate.value() == 0 ? "0 B/s" : scaled(rate.value(), byte_scales, "/s");
}
std::string count_text(double count, std::string_view unit) {
  return scaled(count, count_scales, unit);
}
std::string percent_text(double fraction) {
  return fmt::format("{:.1f} %", fraction * 100);
}
std::string signed_percent_text(double fraction) {
  return fmt::format("{:+.2f} %", fraction * 100);
}

std::string exact_bytes_text(Bytes amount) {
  return value::text(value::Amount{value::Unit::size, "", "0 B"}, amount);
}

std::string thousands_text(std::int64_t count) {
  auto digits = fmt::format("{}", count);
  const std::size_t first = digits.front() == '-' ? 1 : 0;
  for (auto position = digits.size(); position > first + 3;) {
    position -= 3;
    digits.insert(position, ",");
  }
  return digits;
}

std::string digits_text(double value, int digits) {
  return value >= 1000 && value < 1e15 ? thousands_text(std::llround(value))
                                       : fmt::format("{:.{}g}", value, digits);
}

std::string counted_text(std::int64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", thousands_text(count), noun, count == 1 ? "" : "s");
}

std::size_t columns_of(std::string_view text) {
  std::size_t columns = 0;
  for_each_column(text, [&columns](std::size_t) {
    ++columns;
    return true;
  });
  return columns;
}

std::string one_line(std::string_view text) {
  std::string line;
  std::size_t start = 0;
  const auto take = [&](std::size_t end) { line += printable(text.substr(start, end - start)); };
  for (auto position = text.find('\x1b'); position != std::string_view::npos;
       position = text.find('\x1b', position + 1)) {
    const auto after = after_colour(text, position);
    if (after == position) continue;
    take(position);
    line += text.substr(position, after - position);
    start = after;
  }
  take(text.size());
  return line;
}

std::string fit(std::string_view text, std::size_t width) {
  const auto columns = columns_of(text);
  if (columns <= width) return std::string{text};
  if (width == 0) return "";
  const auto tail = (width - 1) / 2;
  const auto head = width - 1 - tail;
  return fmt::format("{}…{}", text.substr(0, offset_of(text, head)),
                     text.substr(offset_of(text, columns - tail)));
}

std::string shorten(std::string_view text, std::size_t width) {
  if (columns_of(text) <= width) return std::string{text};
  return width == 0 ? "" : fmt::format("{}…", text.substr(0, offset_of(text, width - 1)));
}

std::vector<std::string> wrap(std::string_view text, std::size_t width) {
  expects(width > 0, "lines are at least one column wide");
  std::vector<std::string> lines(1);
  const auto append = [&](std::string_view word) {
    const auto used = columns_of(lines.back());
    if (used > 0 && used + 1 + columns_of(word) > width) lines.emplace_back();
    if (!lines.back().empty()) lines.back() += ' ';
    lines.back() += word;
  };
  while (!text.empty()) {
    const auto end = std::min(text.find_first_of(" \n\t"), text.size());
    auto word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    for (auto columns = columns_of(word); columns > width; columns -= width) {
      const auto cut = offset_of(word, width);
      append(word.substr(0, cut));
      word.remove_prefix(cut);
    }
    if (!word.empty()) append(word);
  }
  return lines;
}

std::string first_sentence(std::string_view text) {
  auto end = std::min(text.find(". "), text.find(".\n"));
  end = std::min(end, text.size());
  while (end > 0 && (text[end - 1] == '\n' || text[end - 1] == ' ' || text[end - 1] == '.')) --end;
  std::string sentence{text.substr(0, end)};
  for (auto& c : sentence) {
    if (c == '\n' || c == '\t') c = ' ';
  }
  return sentence;
}

std::string csv_cell(const std::string& text) {
  const bool formula = is_formula(text);
  if (!formula && text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string cell = formula ? "\"'" : "\"";
  for (const auto c : text) cell += c == '"' ? std::string{"\"\""} : std::string{c};
  return cell + "\"";
}

// Tables show four digits.
constexpr double not_shown = 5e-4;

std::string sparkline(const std::vector<double>& values) {
  static constexpr std::array<std::string_view, 8> levels{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  constexpr std::size_t middle = 3;
  double least = std::numeric_limits<double>::infinity();
  double most = -least;
  for (const auto value : values) {
    if (!std::isfinite(value)) continue;
    least = std::min(least, value);
    most = std::max(most, value);
  }
  const bool is_flat = most / 2 - least / 2 <= not_shown * std::max(std::abs(most), std::abs(least)) / 2;
  std::string line;
  for (const auto value : values) {
    if (!std::isfinite(value)) {
      line += ' ';
      continue;
    }
    // Divide first: the difference of two finite values may be infinite.
    const auto share = !is_flat ? (value / 2 - least / 2) / (most / 2 - least / 2) : -1;
    line += levels[share < 0 ? middle : static_cast<std::size_t>(std::lround(share * (levels.size() - 1)))];
  }
  return line;
}

}  // namespace gradway::report
