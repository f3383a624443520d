// SPDX-License-Identifier: Apache-2.0
#include "readers/fit/fit.hpp"

#include <map>
#include <set>
#include <tuple>

#include "readers/fit/collective_tables.hpp"
#include "readers/fit/kernels.hpp"

namespace gradway {
namespace {

/// Whether the size at this place of `count` ordered sizes is held back.
bool is_every_third(std::size_t place, std::size_t count) {
  return place % 3 == 1 && place + 1 < count;
}

bool is_middle(std::size_t place, std::size_t count) {
  return count >= 2 && place == count / 2;
}

/// Splits rows. @param group key of what is fitted together @param size orders the rows of a group
template <class Row, class Group, class Size>
void split(const std::vector<Row>& rows, const Group& group, const Size& size,
           bool (*is_held)(std::size_t place, std::size_t count), std::vector<Row>& kept,
           std::vector<Row>& held) {
  std::map<decltype(group(rows.front())), std::set<decltype(size(rows.front()))>> sizes;
  for (const auto& row : rows) sizes[group(row)].insert(size(row));
  kept.clear();
  for (const auto& row : rows) {
    const auto& group_sizes = sizes[group(row)];
    const auto place =
        static_cast<std::size_t>(std::distance(group_sizes.begin(), group_sizes.find(size(row))));
    (is_held(place, group_sizes.size()) ? held : kept).push_back(row);
  }
}

}  // namespace

SplitSamples hold_back(const Samples& samples) {
  SplitSamples result{samples, {}};
  auto& [kept, held] = result;
  const auto by_size = [](const auto& row) { return row.size; };
  split(samples.collectives, key_of<CollectiveRow>, by_size, is_every_third, kept.collectives,
        held.collectives);
  split(
      samples.copies, [](const auto& row) { return row.role; }, by_size, is_every_third, kept.copies,
      held.copies);
  split(
      samples.matrix,
      [](const auto& row) {
        return std::pair{row.arithmetic, shape_of(row)};
      },
      [](const auto& row) {
        return std::tuple{row.work(), row.m, row.n};
      },
      is_every_third, kept.matrix, held.matrix);
  split(
      samples.memory, [](const auto& row) { return row.kernel; }, [](const auto& row) { return row.traffic; },
      is_every_third, kept.memory, held.memory);
  split(
      samples.optimizers,
      [](const auto& row) {
        return std::pair{row.optimizer, row.tensors};
      },
      [](const auto& row) { return row.parameters; }, is_every_third, kept.optimizers, held.optimizers);
  split(
      samples.attention,
      [](const auto& row) {
        return std::pair{row.arithmetic, row.causal};
      },
      [](const auto& row) {
        return std::tuple{row.work(), row.length};
      },
      is_every_third, kept.attention, held.attention);
  split(
      samples.contention,
      [](const auto& row) {
        return std::tuple{row.transport, row.ranks, row.precision, row.channels};
      },
      [](const auto& row) {
        return std::pair{row.side, row.size};
      },
      is_middle, kept.contention, held.contention);
  return result;
}

}  // namespace gradway
