// SPDX-License-Identifier: Apache-2.0
#include "readers/nccl_tests/nccl_tests.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>

namespace gradway {
namespace {

/// Rows of nccl_tests.txt: the name in samples, then the letters of the program's name.
const std::vector<TextRow>& operations() {
  static const auto rows = nccl_test_rows("operation");
  return rows;
}

double bus_ratio_of(const TextRow& operation, int ranks) {
  const auto other_share = static_cast<double>(ranks - 1) / ranks;
  const auto ratio = operation.value("ratio");
  return ratio == "one" ? 1 : ratio == "others" ? other_share : 2 * other_share;
}

/// Whether rows of an operation may have a column, or lack it.
bool allows(const TextRow& operation, std::string_view column, bool has) {
  const auto expected = operation.value(column);
  return expected.empty() || (expected == "yes") == has;
}

std::string letters_of(std::string_view text) {
  std::string letters;
  for (const unsigned char c : text) {
    if (c < 0x80 && std::isalpha(c) != 0) letters += static_cast<char>(std::tolower(c));
  }
  return letters;
}

const TextRow* find(std::string_view name) {
  const auto row =
      std::ranges::find(operations(), name, [](const TextRow& operation) { return operation.word(0); });
  return row == operations().end() ? nullptr : &*row;
}

std::optional<int> ranks_by(const BusRatio& ratio, std::string_view kind) {
  if (kind == "one") return std::nullopt;
  const auto share = kind == "others" ? ratio.value : ratio.value / 2;  // (n-1)/n
  if (share < 0.4 || share >= 1) return std::nullopt;
  constexpr double most_ranks = 1e6;
  const auto ranks = std::min(std::round(1 / (1 - share)), most_ranks);
  const auto exact = (ranks - 1) / ranks;
  const auto next = ranks / (ranks + 1);
  const bool is_sure = std::abs(exact - share) <= ratio.margin && next - exact > 2 * ratio.margin;
  return is_sure && ranks >= 2 ? std::optional{static_cast<int>(ranks)} : std::nullopt;
}

/// Whether the columns fit the operation.
bool has_columns_of(const NcclTestRow& row, const TextRow& operation) {
  // Versions with a root column print "none" for operations without reduction, including all-to-all.
  const bool is_new_all_to_all = operation.word(0) == "all_to_all" && row.has_root_column && row.reduction;
  return !is_new_all_to_all && allows(operation, "reduction", row.reduction.has_value()) &&
         allows(operation, "root", row.root >= 0);
}

}  // namespace

std::string nccl_operation(std::string_view word) {
  const auto letters = letters_of(word);
  for (const auto& operation : operations())
    if (operation.word(1) == (letters == "bcast" ? "broadcast" : letters))
      return std::string{operation.word(0)};
  return "";
}

std::vector<std::string> nccl_operations() {
  std::vector<std::string> names;
  for (const auto& operation : operations()) names.emplace_back(operation.word(0));
  return names;
}

std::string operation_in_name(std::string_view file) {
  auto letters = letters_of(file.substr(file.find_last_of('/') + 1));  // npos + 1 is 0.
  std::string_view named;
  for (const auto& operation : operations()) {
    const auto position = letters.find(operation.word(1));
    if (position == std::string::npos) continue;
    if (!named.empty()) return "";
    named = operation.word(0);
    letters.replace(position, operation.word(1).size(), " ");
  }
  return std::string{named};
}

std::optional<BusRatio> bus_ratio(const NcclTestRun& run) {
  const auto rate = [](const NcclTestRow& row) { return row.out_of_place.algorithm_rate; };
  const auto best = std::ranges::max_element(run.rows, {}, rate);
  constexpr double least = 0.1;  // In GB/s: below it two decimals are too coarse.
  constexpr double rounding = 0.005;
  if (best == run.rows.end() || rate(*best) < least) return std::nullopt;
  const auto value = best->out_of_place.bus_rate / rate(*best);
  return BusRatio{value, 1.1 * rounding * (1 + value) / rate(*best)};
}

std::vector<std::string> operations_like(const NcclTestRun& run, std::optional<int> ranks) {
  const auto ratio = bus_ratio(run);
  std::vector<std::string> names;
  for (const auto& operation : operations()) {
    if (operation.word(0) == "hypercube" || !has_columns_of(run.rows.front(), operation))
      continue;  // not used in practice
    const bool is_one = ratio && std::abs(ratio->value - 1) <= ratio->margin;
    const bool fits_ratio =
        !ratio || (is_one && has_sent_bytes(run, operation.word(0))) ? true
        : ranks ? std::abs(bus_ratio_of(operation, *ranks) - ratio->value) <= ratio->margin
        : operation.value("ratio") == "one" ? is_one
                                            : ranks_by(*ratio, operation.value("ratio")).has_value();
    if (fits_ratio) names.emplace_back(operation.word(0));
  }
  return names;
}

bool has_sent_bytes(const NcclTestRun& run, std::string_view operation) {
  const auto* const known = find(operation);
  const auto ratio = bus_ratio(run);
  return run.is_old && known != nullptr && known->value("ratio") == "others" && ratio &&
         std::abs(ratio->value - 1) <= ratio->margin;
}

bool has_ratio_of(const NcclTestRun& run, std::string_view operation, int ranks) {
  const auto ratio = bus_ratio(run);
  const auto* const known = find(operation);
  return !ratio || has_sent_bytes(run, operation) || known == nullptr ||
         std::abs(bus_ratio_of(*known, ranks) - ratio->value) <= ratio->margin;
}

std::optional<int> ranks_by_ratio(const NcclTestRun& run, std::string_view operation) {
  const auto ratio = bus_ratio(run);
  const auto* const known = find(operation);
  return ratio && known != nullptr ? ranks_by(*ratio, known->value("ratio")) : std::nullopt;
}

}  // namespace gradway
