// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <map>

#include <fmt/format.h>

#include "sim/config/read/measurements.hpp"
#include "sim/config/read/read.hpp"
#include "sim/config/yaml/text_table.hpp"

namespace gradway::config {
namespace {

constexpr double shortest_time_us = 1e-3;
constexpr double longest_time_us = 1e14;
constexpr std::int64_t largest_number = 9'000'000'000'000'000;

const TimedKind& read_kind(const Cell& cell) {
  std::array<std::string_view, timed_kinds.size()> names;
  std::ranges::transform(timed_kinds, names.begin(), &TimedKind::name);
  return timed_kinds[index_among(cell, "a kind of timed kernel", names)];
}

/// Reads the words after a kernel's kind.
void read_words(Row& row, const TimedKind& kind, std::string& kernel) {
  for (std::size_t i = 0; i < word_count(kind); ++i) {
    const auto cell = row.next(kind.words[i]);
    const auto known = choices(kind, i);
    if (std::ranges::find(known, cell.word()) == known.end())
      index_among(cell, noun_of_word(kind, i), known);  // throws
    kernel.append(" ").append(cell.word());
  }
}

/// "4096x768x3072"
std::vector<double> read_size(const Cell& cell, const TimedKind& kind) {
  const auto word = cell.word();
  const auto wanted = size_count(kind);
  const auto written = static_cast<std::size_t>(1 + std::ranges::count(word, 'x'));
  if (written != wanted) {
    fail(cell.where(), fmt::format("invalid size '{}' of {}", word, kind.name),
         fmt::format("expected {}", size_names(kind)));
  }
  std::vector<double> size(wanted);
  for (std::size_t i = 0, start = 0; i < wanted; ++i) {
    const auto end = std::min(word.find('x', start), word.size());
    size[i] =
        static_cast<double>(whole_number(cell.part(start, end - start), kind.size[i],
                                         static_cast<std::int64_t>(least_size(kind, i)), largest_number));
    start = end + 1;
  }
  return size;
}

/// Reads rows in order. Most start with the same words as the row before, which are then not parsed again.
class RowReader {
 public:
  explicit RowReader(std::string_view table) {
    constexpr std::size_t usual_line = 40;
    rows_.reserve(table.size() / usual_line);
  }

  void read(Row row) {
    if (kind_ == nullptr || !row.take(kernel_)) read_kernel(row);
    auto size = read_size(row.next("size"), *kind_);
    const auto us = number(row.next("us"), "a time in microseconds", shortest_time_us, longest_time_us);
    row.finish();
    rows_.push_back({kernel_, std::move(size), Seconds{us / 1e6}});
  }

  std::vector<KernelTime> rows() && { return std::move(rows_); }

 private:
  void read_kernel(Row& row) {
    kind_ = nullptr;  // stays null if the row is invalid
    const auto& kind = read_kind(row.next("kernel"));
    kernel_ = kind.name;
    read_words(row, kind, kernel_);
    kind_ = &kind;
  }

  std::vector<KernelTime> rows_;
  std::string kernel_;  ///< of the previous row
  const TimedKind* kind_ = nullptr;
};

/// Reports rows with the same kernel and size. @pre all rows are valid
void refuse_second_rows(const Node& node, const std::vector<KernelTime>& rows, Problems& problems) {
  const auto is_no_step = [](const KernelTime& a, const KernelTime& b) { return !is_listed_before(a, b); };
  if (std::ranges::adjacent_find(rows, is_no_step) == rows.end()) return;  // sorted, as a fit writes them
  std::map<std::pair<std::string_view, std::vector<double>>, Where> seen;
  auto timed = rows.begin();
  TextTable{node}.for_each_row(problems, [&](Row row) {
    const auto where = row.next("kernel").where();
    const auto [first, is_new] = seen.emplace(std::pair{std::string_view{timed->kernel}, timed->size}, where);
    ++timed;
    if (!is_new)
      fail(where, "duplicate row: the same kernel and size", {{first->second, "the first one is here"}},
           "keep one of them");
  });
}

std::vector<KernelTime> read_rows(const Node& node, Problems& problems) {
  const auto before = problems.size();
  RowReader reader{node.text};
  TextTable{node}.for_each_row(problems, [&](const Row& row) { reader.read(row); });
  auto rows = std::move(reader).rows();
  if (problems.size() == before) refuse_second_rows(node, rows, problems);
  return rows;
}

}  // namespace

std::optional<KernelTimes> read_kernel_times(Reader& file) {
  auto section = file.maybe_map("kernel_times");
  if (!section) return std::nullopt;
  KernelTimes times;
  times.gpu = section->required("gpu", text);
  times.rows =
      section->required("rows", [&](const Node& node) { return read_rows(node, section->problems()); });
  if (section->is_valid() && times.rows.empty())
    section->error(section->value_place("rows"), "the table has no rows",
                   "write one row for each kernel and size");
  section->finish();
  return times;
}

std::optional<Named> read_gpu_of_kernel_times(Reader& file) {
  auto section = file.maybe_map("kernel_times");
  if (!section || !section->has("gpu")) return std::nullopt;
  return section->required("gpu", named);
}

}  // namespace gradway::config
