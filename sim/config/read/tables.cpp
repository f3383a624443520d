// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "sim/base/number.hpp"
#include "sim/config/read/measurements.hpp"
#include "sim/config/yaml/quantities.hpp"
#include "sim/config/yaml/text_table.hpp"
#include "sim/cost/plausible.hpp"

namespace gradway::config {
namespace {

namespace words = calibration_words;

constexpr Choice<std::optional<Algorithm>> algorithms[] = {{words::any, std::nullopt},
                                                           {words::algorithms[0], Algorithm::ring},
                                                           {words::algorithms[1], Algorithm::tree}};
constexpr Choice<std::optional<Protocol>> protocol_choices[] = {{words::any, std::nullopt},
                                                                {words::protocols[0], Protocol::ll},
                                                                {words::protocols[1], Protocol::ll128},
                                                                {words::protocols[2], Protocol::simple}};

/// The unit after a number; empty at the end of the row, so that the number's parser reports it as missing.
std::string_view unit_of(Row& row) {
  try {
    return row.next("unit").word();
  } catch (const ConfigError&) {
    return {};
  }
}

/// Parses two words of a row, such as "64 KiB", as one value.
template <class Parse>
auto quantity(Row& row, std::string_view column, const Parse& parse) {
  const auto number = row.next(column);
  const auto unit = unit_of(row);
  auto where = number.where();
  if (!unit.empty()) where.length = static_cast<int>(unit.data() + unit.size() - number.word().data());
  return parse(Node{.kind = Node::Kind::scalar,
                    .text = fmt::format("{}{}{}", number.word(), unit.empty() ? "" : " ", unit),
                    .where = std::move(where)});
}

/// Reads rows of a size and its time. @param is_curve sizes must increase and times must not decrease
std::vector<SizedTime> read_sizes(const Node& node, Problems& problems, bool is_curve) {
  std::vector<SizedTime> points;
  TextTable{node}.for_each_row(problems, [&](Row row) {
    const auto start = row;
    SizedTime point;
    point.size = quantity(row, "size", bytes);
    point.time = quantity(row, "time", duration);
    row.finish();
    const auto where = [&] { return Row{start}.next("size").where(); };
    if (!is_plausible(point)) fail(where(), implausible_text(point), "leave the row out");
    if (is_curve && !points.empty() && point.size <= points.back().size)
      fail(where(), "the size is not larger than that of the previous row", "sort the rows by size");
    if (is_curve && !points.empty() && point.time < points.back().time)
      fail(where(), "the time is shorter than that of the previous row",
           "times must not decrease with the size; 'gradway calibrate fit' writes such tables");
    points.push_back(point);
  });
  return points;
}

CollectiveTable read_table(Reader& table) {
  CollectiveTable result;
  result.transport = table.required("transport", one_of("a transport", transports));
  result.kind = table.required("operation", one_of("an operation", operations));
  result.algorithm = table.required("algorithm", one_of("an algorithm", algorithms));
  result.protocol = table.required("protocol", one_of("a protocol", protocol_choices));
  result.ranks = table.required("ranks", integer(2, 1 << 20));
  result.nodes = table.optional("nodes", integer(1, 1 << 20), 1);
  result.samples = table.optional("samples", integer(0, 1 << 30), 0);
  result.latency = table.required("latency", duration);
  result.bandwidth = table.required("bandwidth", bandwidth);
  result.residual = read_error(table, "median_residual", "worst_residual");
  result.residual_with_outliers =
      read_error(table, "median_residual_with_outliers", "worst_residual_with_outliers");
  result.interpolation = read_error(table, "interpolation_error", "worst_interpolation_error");
  result.spread = read_error(table, "spread", "worst_spread");
  result.uncertainty = table.maybe(table.key_or("uncertainty", "doubt"), percentage);
  result.predicted_from = table.optional("predicted_from", text, "");
  auto& problems = table.problems();
  result.points =
      table.required("points", [&problems](const Node& node) { return read_sizes(node, problems, true); });
  result.outliers = table.optional(
      "outliers", [&problems](const Node& node) { return read_sizes(node, problems, false); }, {});
  table.finish();
  if (!table.is_valid()) return result;
  if (result.points.empty()) {
    table.error(table.value_place("points"), "the table has no rows", "write a row for each size");
  } else if (result.latency > result.points.front().time * 1.001) {
    table.error(table.value_place("latency"), "the latency is longer than the time of the smallest size",
                "set it to the time of the first row");
  }
  return result;
}

}  // namespace

double percentage(const Node& node) {
  const auto& word = scalar(node, "a percentage");
  double value = 0;
  const auto [end, error] = read_number(word.data(), word.data() + word.size(), value);
  const std::string_view unit{end, static_cast<std::size_t>(word.data() + word.size() - end)};
  if (error != std::errc{} || !std::isfinite(value) || value < 0 || (unit != " %" && unit != "%"))
    fail(node.where, fmt::format("'{}' is not a percentage", word), "write a number and '%', such as 4.2 %");
  constexpr double most = 100'000;  // a factor of 1000, as for slow-downs
  if (value > most)
    fail(node.where, fmt::format("'{}' is too large for a percentage: at most 100000 %", word));
  return value / 100;
}

std::optional<FitError> read_error(Reader& table, std::string_view median, std::string_view worst) {
  if (!table.has(median) && !table.has(worst)) return std::nullopt;
  FitError error;
  error.median = table.required(median, percentage);
  error.worst = table.required(worst, percentage);
  return error;
}

std::vector<CollectiveTable> read_tables(Reader& file) {
  using Key =
      std::tuple<Transport, CollectiveKind, std::optional<Algorithm>, std::optional<Protocol>, int, int>;
  std::vector<CollectiveTable> tables;
  std::map<Key, Where> seen;
  for (auto& entry : file.maps("tables")) {
    const auto& table = tables.emplace_back(read_table(entry));
    if (!entry.is_valid()) continue;
    const auto [first, is_new] = seen.emplace(
        Key{table.transport, table.kind, table.algorithm, table.protocol, table.ranks, table.nodes},
        entry.key_place("transport"));
    if (!is_new) {
      entry.error(entry.key_place("transport"),
                  "duplicate table: the same transport, operation, algorithm, protocol, ranks and nodes",
                  "keep one of them", {{first->second, "the first one is here"}});
    }
  }
  return tables;
}

}  // namespace gradway::config
