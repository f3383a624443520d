// SPDX-License-Identifier: Apache-2.0
#include "sim/import/nccl_tests/nccl_tests.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>

namespace gradway {
namespace {

/// Bus bandwidth divided by algorithm bandwidth for n ranks.
enum class Factor {
  one,       ///< 1
  others,    ///< (n-1)/n
  both_ways  ///< 2(n-1)/n
};
enum class Has { no, yes, any };

struct TestedOperation {
  std::string_view name;     ///< Name in samples.
  std::string_view program;  ///< Letters of the program's name.
  Factor factor;
  Has reduction;
  Has root;
};
// Longer names first, so that "reducescatter" is not taken as "reduce".
constexpr std::array operations{
    TestedOperation{"reduce_scatter", "reducescatter", Factor::others, Has::yes, Has::no},
    TestedOperation{"all_reduce", "allreduce", Factor::both_ways, Has::yes, Has::no},
    TestedOperation{"all_gather", "allgather", Factor::others, Has::no, Has::no},
    TestedOperation{"all_to_all", "alltoall", Factor::others, Has::any, Has::no},
    TestedOperation{"broadcast", "broadcast", Factor::one, Has::no, Has::yes},
    TestedOperation{"hypercube", "hypercube", Factor::one, Has::any, Has::no},
    TestedOperation{"send_recv", "sendrecv", Factor::one, Has::any, Has::no},
    TestedOperation{"scatter", "scatter", Factor::others, Has::any, Has::yes},
    TestedOperation{"gather", "gather", Factor::others, Has::any, Has::yes},
    TestedOperation{"reduce", "reduce", Factor::one, Has::yes, Has::yes}};

double factor(const TestedOperation& operation, int ranks) {
  const auto other_share = static_cast<double>(ranks - 1) / ranks;
  return operation.factor == Factor::one      ? 1
         : operation.factor == Factor::others ? other_share
                                              : 2 * other_share;
}

bool fits(Has column, bool has) {
  return column == Has::any || (column == Has::yes) == has;
}

std::string letters_of(std::string_view text) {
  std::string letters;
  for (const unsigned char c : text) {
    if (c < 0x80 && std::isalpha(c) != 0) letters += static_cast<char>(std::tolower(c));
  }
  return letters;
}

const TestedOperation* find(std::string_view name) {
  const auto* const entry = std::ranges::find(operations, name, &TestedOperation::name);
  return entry == operations.end() ? nullptr : entry;
}

std::optional<int> ranks_by(const BusRatio& ratio, Factor factor) {
  if (factor == Factor::one) return std::nullopt;
  const auto share = factor == Factor::others ? ratio.value : ratio.value / 2;  // (n-1)/n
  if (share < 0.4 || share >= 1) return std::nullopt;
  constexpr double most_ranks = 1e6;
  const auto ranks = std::min(std::round(1 / (1 - share)), most_ranks);
  const auto exact = (ranks - 1) / ranks;
  const auto next = ranks / (ranks + 1);
  const bool is_sure = std::abs(exact - share) <= ratio.margin && next - exact > 2 * ratio.margin;
  return is_sure && ranks >= 2 ? std::optional{static_cast<int>(ranks)} : std::nullopt;
}

/// Whether the columns fit the operation.
bool has_columns_of(const NcclTestRow& row, const TestedOperation& operation) {
  // Versions with a root column print "none" for operations without reduction, including all-to-all.
  const bool is_new_all_to_all = operation.name == "all_to_all" && row.has_root_column && row.reduction;
  return !is_new_all_to_all && fits(operation.reduction, row.reduction.has_value()) &&
         fits(operation.root, row.root >= 0);
}

}  // namespace

std::string nccl_operation(std::string_view word) {
  const auto letters = letters_of(word);
  const auto* const entry =
      std::ranges::find(operations, letters == "bcast" ? "broadcast" : letters, &TestedOperation::program);
  return entry == operations.end() ? "" : std::string{entry->name};
}

std::vector<std::string> nccl_operations() {
  std::vector<std::string> names;
  for (const auto& operation : operations) names.emplace_back(operation.name);
  return names;
}

std::string operation_in_name(std::string_view file) {
  auto letters = letters_of(file.substr(file.find_last_of('/') + 1));  // npos + 1 is 0.
  std::string_view named;
  for (const auto& operation : operations) {
    const auto position = letters.find(operation.program);
    if (position == std::string::npos) continue;
    if (!named.empty()) return "";
    named = operation.name;
    letters.replace(position, operation.program.size(), " ");
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
  for (const auto& operation : operations) {
    if (operation.name == "hypercube" || !has_columns_of(run.rows.front(), operation))
      continue;  // not used in practice
    const bool is_one = ratio && std::abs(ratio->value - 1) <= ratio->margin;
    const bool fits_ratio = !ratio || (is_one && has_sent_bytes(run, operation.name)) ? true
                            : ranks ? std::abs(factor(operation, *ranks) - ratio->value) <= ratio->margin
                            : operation.factor == Factor::one
                                ? is_one
                                : ranks_by(*ratio, operation.factor).has_value();
    if (fits_ratio) names.emplace_back(operation.name);
  }
  return names;
}

bool has_sent_bytes(const NcclTestRun& run, std::string_view operation) {
  const auto* const known = find(operation);
  const auto ratio = bus_ratio(run);
  return run.is_old && known != nullptr && known->factor == Factor::others && ratio &&
         std::abs(ratio->value - 1) <= ratio->margin;
}

bool has_ratio_of(const NcclTestRun& run, std::string_view operation, int ranks) {
  const auto ratio = bus_ratio(run);
  const auto* const known = find(operation);
  return !ratio || has_sent_bytes(run, operation) || known == nullptr ||
         std::abs(factor(*known, ranks) - ratio->value) <= ratio->margin;
}

std::optional<int> ranks_by_ratio(const NcclTestRun& run, std::string_view operation) {
  const auto ratio = bus_ratio(run);
  const auto* const known = find(operation);
  return ratio && known != nullptr ? ranks_by(*ratio, known->factor) : std::nullopt;
}

}  // namespace gradway
