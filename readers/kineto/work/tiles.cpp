// SPDX-License-Identifier: Apache-2.0
#include "readers/kineto/work/launch_work.hpp"
#include "readers/kineto/work/operation_work.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

namespace gradway {
namespace {

using Shape = Operand::Shape;

std::int64_t tiles_along(std::int64_t size, std::int64_t tile) {
  return (size + tile - 1) / tile;
}

/// Reads "256x128" from "nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_NNT".
std::optional<std::pair<int, int>> tile_in(std::string_view name) {
  while (!name.empty()) {
    const auto end = std::min(name.find('_'), name.size());
    const auto word = name.substr(0, end);
    std::pair<int, int> tile{};
    const auto* const last = word.data() + word.size();
    const auto [x, error] = std::from_chars(word.data(), last, tile.first);
    if (error == std::errc{} && x != last && *x == 'x') {
      const auto [rest, second_error] = std::from_chars(x + 1, last, tile.second);
      if (second_error == std::errc{} && rest == last && tile.first > 0 && tile.second > 0) return tile;
    }
    name.remove_prefix(std::min(name.size(), end + 1));
  }
  return std::nullopt;
}

/// Results of a product: their number, and the rows and columns of each.
struct Result {
  std::int64_t count = 1, rows = 0, columns = 0;
};

std::optional<Result> result_of(const Signature& operation) {
  const auto& name = operation.name;
  const bool adds = name == "aten::addmm" || name == "aten::baddbmm";
  const auto* a = operands::shape(operation, adds ? 1 : 0);
  const auto* b = operands::shape(operation, adds ? 2 : 1);
  if (a == nullptr || b == nullptr || a->size() < 2 || b->size() < 2) return std::nullopt;
  Result result;
  if (name == "aten::linear") {
    result.rows = 1;
    for (std::size_t i = 0; i + 1 < a->size(); ++i) result.rows *= (*a)[i];
    result.columns = b->front();
  } else if (name == "aten::bmm" || name == "aten::baddbmm") {
    if (a->size() != 3 || b->size() != 3) return std::nullopt;
    result = {a->front(), (*a)[1], b->back()};
  } else if (name == "aten::mm" || name == "aten::addmm" || name == "aten::_scaled_mm") {
    result.rows = a->front();
    result.columns = b->back();
  } else {
    return std::nullopt;
  }
  return result;
}

bool is_scheduled_attention(std::string_view kernel) {
  constexpr auto none = std::string_view::npos;
  return kernel.find("native_sdpa_sm90_flash") != none || kernel.find("native_sdpa_sm100_flash") != none ||
         kernel.find("FlashAttnFwdSm90") != none || kernel.find("FlashAttnBwdSm90") != none;
}

}  // namespace

std::int64_t tiles_of(std::string_view kernel, const Signature& operation) {
  if (is_scheduled_attention(kernel)) {
    constexpr std::int64_t rows_of_tile = 128;
    const auto* queries = operands::shape(operation, 0);
    if (queries == nullptr || queries->size() != 4) return 0;
    return (*queries)[0] * (*queries)[1] * tiles_along((*queries)[2], rows_of_tile);
  }
  if (!kernel.starts_with("nvjet")) return 0;
  const auto tile = tile_in(kernel);
  const auto result = result_of(operation);
  if (!tile || !result) return 0;
  const auto [a, b] = *tile;
  // cuBLAS's rows are PyTorch's columns, or the other way round: the smaller number is assumed.
  return result->count * std::min(tiles_along(result->rows, a) * tiles_along(result->columns, b),
                                  tiles_along(result->rows, b) * tiles_along(result->columns, a));
}

}  // namespace gradway
