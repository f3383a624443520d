// SPDX-License-Identifier: Apache-2.0
#include "sim/fit/kernels.hpp"

#include <algorithm>

#include "sim/fit/monotone.hpp"

namespace gradway {
namespace {

constexpr double large_side = 4096;
constexpr double small_side = 1024;
constexpr Bytes bulk = 256_MiB;  // far beyond the caches
constexpr Bytes tiny = 1_MiB;    // well below a microsecond of memory time on any GPU of today

template <class Kind>
std::optional<Quantity<Kind>> median(const std::vector<Quantity<Kind>>& values) {
  if (values.empty()) return std::nullopt;
  std::vector<double> plain;
  for (const auto value : values) plain.push_back(value.value());
  return Quantity<Kind>{lower_quantile(std::move(plain), 0.5)};
}

void add_matrix(const std::vector<MatrixRow>& rows, Precision precision, bool large, KernelRates& rates) {
  std::vector<FlopsPerSecond> reached;
  for (const auto& row : rows) {
    const bool is_square = row.m == row.n && row.n == row.k;
    const bool is_of_size = large ? row.m >= large_side : row.m <= small_side;
    if (row.precision == precision && is_square && is_of_size) reached.push_back(row.work() / row.time);
  }
  if (const auto rate = median(reached)) rates.matrix.push_back({precision, large, *rate});
}

std::optional<BytesPerSecond> memory_rate(const std::vector<MemoryRow>& rows, bool widens) {
  std::vector<BytesPerSecond> reached;
  for (const auto& row : rows) {
    if (row.widens == widens && row.traffic >= bulk) reached.push_back(row.traffic / row.time);
  }
  return median(reached);
}

}  // namespace

KernelRates fit_kernels(const Samples& samples) {
  KernelRates rates;
  for (std::size_t p = 0; p < precision_count; ++p) {
    for (const bool large : {true, false})
      add_matrix(samples.matrix, static_cast<Precision>(p), large, rates);
  }
  rates.stream = memory_rate(samples.memory, false);
  rates.widen = memory_rate(samples.memory, true);
  std::vector<Seconds> shortest;
  for (const auto& row : samples.memory) {
    if (row.traffic <= tiny) shortest.push_back(row.time);
  }
  rates.smallest_kernel = median(shortest);
  rates.launch_cost = median(samples.launches);
  return rates;
}

}  // namespace gradway
