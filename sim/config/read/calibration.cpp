// SPDX-License-Identifier: Apache-2.0
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "sim/config/read/fields.hpp"
#include "sim/config/read/measurements.hpp"
#include "sim/config/read/read.hpp"
#include "sim/config/yaml/quantities.hpp"
#include "sim/config/yaml/text_table.hpp"
#include "sim/cost/plausible.hpp"

namespace gradway::config {
namespace {

void check_sample(Reader& entry, const CollectiveSample& sample) {
  const SizedTime measured{sample.size, sample.time};
  if (entry.is_valid() && !is_plausible(measured))
    entry.error(entry.value_place("time"), implausible_text(measured), "leave the entry out");
}

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

void read_points(Reader& entry, CollectiveTable& table) {
  auto& problems = entry.problems();
  table.points = entry.required("points", [&](const Node& node) { return read_sizes(node, problems, true); });
  table.outliers =
      entry.optional("outliers", [&](const Node& node) { return read_sizes(node, problems, false); }, {});
  if (!entry.is_valid()) return;
  if (table.points.empty()) {
    entry.error(entry.value_place("points"), "the table has no rows", "write a row for each size");
  } else if (table.latency > table.points.front().time * 1.001) {
    entry.error(entry.value_place("latency"), "the latency is longer than the time of the smallest size",
                "set it to the time of the first row");
  }
}

/// Reads the keys of older calibrations, which had no lists.
void read_older_keys(Reader& kernels, KernelRates& rates) {
  const auto stream = kernels.maybe("memory_stream", bandwidth);
  const auto widen = kernels.maybe("memory_widen", bandwidth);
  const auto launch = kernels.maybe("launch_cost", latency);
  if (stream) rates.memory.push_back({MemoryKernel::copy_fp32, {}, *stream, {}, {}});
  if (widen) rates.memory.push_back({MemoryKernel::cast_bf16_fp32, {}, *widen, {}, {}});
  if (launch) rates.launches.push_back({LaunchCost::launch, *launch, {}});
}

/// Reads everything except the kernel times. The caller calls `finish`.
Calibration read_rates(Reader& file, const std::string& name) {
  Calibration result;
  result.name = name;
  read_fields(file, result);
  result.collectives = read_groups<CollectiveSample>(file, "collectives", check_sample);
  DistinctKeys<
      std::tuple<Transport, CollectiveKind, std::optional<Algorithm>, std::optional<Protocol>, int, int>>
      plans;
  result.tables = read_groups<CollectiveTable>(file, "tables", [&](Reader& entry, CollectiveTable& table) {
    read_points(entry, table);
    if (entry.is_valid())
      plans.add({table.transport, table.kind, table.algorithm, table.protocol, table.ranks, table.nodes},
                entry, entry.key_place("transport"),
                "duplicate table: the same transport, operation, algorithm, protocol, ranks and nodes",
                "keep one of them");
  });
  DistinctKeys<std::tuple<Transport, Precision, int, int>> conditions;
  result.contention = read_groups<ContentionFactors>(
      file, file.key_or("contention", "side_by_side"), [&](Reader& entry, const ContentionFactors& factors) {
        if (entry.is_valid())
          conditions.add({factors.transport, factors.precision, factors.ranks, factors.channels}, entry,
                         entry.value_place("precision"),
                         "duplicate entry: the same transport, precision, ranks and channels",
                         "keep one of them");
      });
  if (auto kernels = file.maybe_map("kernels")) {
    read_fields(*kernels, result.kernels);
    read_older_keys(*kernels, result.kernels);
    kernels->finish();
  }
  for (const auto* section : {"shared_limits", "beside_copies"})
    file.ignore(section);  // no prediction reads them
  return result;
}

}  // namespace

Calibration read_calibration(Reader& file, const std::string& name) {
  auto result = read_rates(file, name);
  result.kernel_times = read_kernel_times(file);
  if (result.kernel_times) result.kernel_times->source = result.source;
  file.finish();
  return result;
}

CalibrationSpec read_calibration_of_platform(Reader& file, const std::string& name) {
  CalibrationSpec spec{read_rates(file, name), read_gpu_of_kernel_times(file)};
  file.finish();
  return spec;
}

}  // namespace gradway::config
