// SPDX-License-Identifier: Apache-2.0
#include "sim/scenario/sample_access.hpp"

#include <algorithm>
#include <cmath>

#include "sim/scenario/input.hpp"

namespace gradway {
namespace {

constexpr Bytes page{4096};

}  // namespace

double share_of_row_groups(const Predicate& predicate, double rows, double rows_of_a_group) {
  const auto group = std::clamp(rows_of_a_group, 1.0, rows);
  const auto matching = predicate.selectivity * rows;
  const auto touched = predicate.rows == MatchingRows::random
                           ? 1 - std::pow(1 - predicate.selectivity, group)
                           : std::min(1.0, (std::max(0.0, matching - 1) / group + 1) * group / rows);
  return touched + (1 - touched) * predicate.false_positives;
}

Dataset without_predicate(Dataset dataset) {
  if (!dataset.predicate) return dataset;
  dataset.samples /= dataset.predicate->selectivity;
  dataset.sample_size = dataset.sample_size / dataset.rows_read;
  dataset.unpack = dataset.unpack / dataset.rows_read;
  dataset.rows_read = 1;
  dataset.predicate.reset();
  return dataset;
}

Dataset with_predicate(Dataset dataset, const Predicate& predicate) {
  dataset = without_predicate(std::move(dataset));
  const auto read = share_of_row_groups(predicate, dataset.samples, dataset.row_group);
  dataset.rows_read = read / predicate.selectivity;
  dataset.samples *= predicate.selectivity;
  dataset.sample_size = dataset.sample_size * dataset.rows_read;
  dataset.unpack = dataset.unpack * dataset.rows_read;
  dataset.predicate = predicate;
  return dataset;
}

BytesPerSecond parse_rate(CsvParser parser) {
  constexpr std::array rates{BytesPerSecond{63e6}, BytesPerSecond{150e6}};
  return rates[static_cast<std::size_t>(parser)];
}

MappedSample mapped_sample(Bytes size, Bytes window, AccessOrder order) {
  if (window < page) {
    const auto pages = std::ceil(size / page);
    return {.read = page * pages, .request = page, .waits = pages};
  }
  if (order == AccessOrder::sequential) return {.read = size, .request = window, .waits = size / window};
  const auto beyond = std::max(Bytes{}, size - window * 0.25);
  return {.read = window * (1 + std::ceil(beyond / window)), .request = window, .waits = 1};
}

Seconds fault_time(Bytes size, double faults) {
  constexpr Seconds of_a_fault{2.0e-6};
  constexpr Seconds of_a_mib{3.2e-6};
  constexpr Bytes mib{1048576};
  return of_a_fault * std::max(1.0, faults) + of_a_mib * (size / mib);
}

}  // namespace gradway
