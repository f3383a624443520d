// SPDX-License-Identifier: Apache-2.0
#include "sim/import/nccl_tests/nccl_test_row.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <span>
#include <vector>

#include <fmt/format.h>

namespace gradway {
namespace {

constexpr std::size_t most_prefix = 3;     // words that a launcher puts before a line
constexpr std::size_t columns_of_way = 4;  // time, algbw, busbw, #wrong
constexpr double largest_value = 1e18;
constexpr double shortest_time = 1e-3;  // microseconds: no clock tells less
constexpr double longest_time = 1e10;   // hours

/// @source test_typenames in src/common.cu of nccl-tests and of rccl-tests, old and new
struct ElementType {
  std::string_view name;
  int bytes;
};
constexpr std::array element_types{
    ElementType{"float", 4},    ElementType{"half", 2},        ElementType{"bfloat16", 2},
    ElementType{"double", 8},   ElementType{"int8", 1},        ElementType{"uint8", 1},
    ElementType{"char", 1},     ElementType{"int32", 4},       ElementType{"uint32", 4},
    ElementType{"int", 4},      ElementType{"int64", 8},       ElementType{"uint64", 8},
    ElementType{"f8e4m3", 1},   ElementType{"f8e5m2", 1},      ElementType{"fp8_e4m3", 1},
    ElementType{"fp8_e5m2", 1}, ElementType{"hip_bfloat16", 2}};

struct PlacedWord {
  std::string_view text;
  std::size_t offset = 0;
};

std::vector<PlacedWord> words_of(const TextLine& line) {
  std::vector<PlacedWord> words;
  const auto text = line.text;
  for (std::size_t at = 0; (at = text.find_first_not_of(" \t", at)) != std::string_view::npos;) {
    const auto end = std::min(text.find_first_of(" \t", at), text.size());
    words.push_back({text.substr(at, end - at), line.offset + at});
    at = end;
  }
  return words;
}

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool is_whole(std::string_view text) {
  return !text.empty() && text.size() < 19 && text.find_first_not_of("0123456789") == std::string_view::npos;
}

std::optional<double> number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool is_good =
      error == std::errc{} && end == text.data() + text.size() && std::abs(value) < largest_value;
  return is_good ? std::optional{value} : std::nullopt;
}

/// "2025-11-21", "14:05:00": newer versions can print when a row was done.
bool is_time_of_day(std::string_view text) {
  return text.size() >= 8 && text.find_first_not_of("0123456789-:") == std::string_view::npos &&
         text.find_first_of("-:", 1) != std::string_view::npos;
}

/// The number of words before size, count and type; nothing if the line has no such start.
std::optional<std::size_t> start_of_row(std::span<const PlacedWord> words) {
  for (std::size_t i = 0; i <= most_prefix && i + 3 < words.size(); ++i) {
    if (is_whole(words[i].text) && is_whole(words[i + 1].text) && is_letter(words[i + 2].text.front()))
      return i;
  }
  return std::nullopt;
}

class Reader {
 public:
  Reader(const std::string& file, const TextLine& line) : file_{file}, line_{line} {}

  std::variant<std::monostate, NcclTestRow, BrokenTestRow> read() {
    const auto words = words_of(line_);
    const auto start = start_of_row(words);
    if (!start) return {};
    std::span<const PlacedWord> rest{words};
    rest = rest.subspan(*start);
    while (rest.size() > 3 && is_time_of_day(rest.back().text)) rest = rest.first(rest.size() - 1);
    row_.where = place_in(line_, file_, rest.front().offset, rest.front().text.size());
    row_.size = Bytes{number(rest.front().text).value_or(0)};
    row_.count = number(rest[1].text).value_or(0);
    const auto type = rest[2];
    rest = rest.subspan(3);
    if (!rest.empty() && is_letter(rest.front().text.front()) && rest.front().text != "N/A") {
      if (rest.front().text != "none") row_.reduction = std::string{rest.front().text};
      rest = rest.subspan(1);
    }
    row_.has_root_column = rest.size() % columns_of_way == 1;
    if (row_.has_root_column) {
      const auto root = number(rest.front().text);
      if (!root || *root != std::floor(*root)) return broken(rest.front(), "is no root");
      row_.root = static_cast<int>(std::clamp(*root, -1.0, 1e6));
      rest = rest.subspan(1);
    }
    if (rest.size() != columns_of_way && rest.size() != 2 * columns_of_way) {
      return BrokenTestRow{place_in(line_, file_, line_.offset + line_.text.size(), 1),
                           fmt::format("the row has {} numbers behind its type, not {} or {}", rest.size(),
                                       columns_of_way, 2 * columns_of_way),
                           rest.size() < 2 * columns_of_way};
    }
    if (!read_time(rest.first(columns_of_way), row_.out_of_place)) return *broken_;
    if (rest.size() > columns_of_way) {
      row_.in_place.emplace();
      if (!read_time(rest.subspan(columns_of_way), *row_.in_place)) return *broken_;
    }
    const auto* const known = std::ranges::find(element_types, type.text, &ElementType::name);
    if (known == element_types.end()) return broken(type, "is no type of elements that nccl-tests knows");
    row_.element = known->bytes;
    return row_;
  }

 private:
  BrokenTestRow broken(const PlacedWord& word, std::string_view what) const {
    return {place_in(line_, file_, word.offset, word.text.size()), fmt::format("'{}' {}", word.text, what),
            false};
  }

  bool read_time(std::span<const PlacedWord> words, NcclTestTime& time) {
    const auto values = {number(words[0].text), number(words[1].text), number(words[2].text)};
    auto word = words.begin();
    for (const auto& value : values) {
      const bool is_time = word == words.begin();
      if (!value || *value < 0 || (is_time && (*value < shortest_time || *value > longest_time))) {
        broken_ = broken(*word, is_time ? "is no time in microseconds" : "is no rate in GB/s");
        return false;
      }
      ++word;
    }
    time.time = Seconds{*number(words[0].text) * 1e-6};
    time.algorithm_rate = *number(words[1].text);
    time.bus_rate = *number(words[2].text);
    time.wrong = number(words[3].text);
    if (!time.wrong && words[3].text != "N/A") {
      broken_ = broken(words[3], "is no number of wrong values");
      return false;
    }
    return true;
  }

  const std::string& file_;
  const TextLine& line_;
  NcclTestRow row_;
  std::optional<BrokenTestRow> broken_;
};

}  // namespace

std::variant<std::monostate, NcclTestRow, BrokenTestRow> read_nccl_test_row(const std::string& file,
                                                                            const TextLine& line) {
  return Reader{file, line}.read();
}

}  // namespace gradway
