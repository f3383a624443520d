// SPDX-License-Identifier: Apache-2.0
#include "sim/fit/write_calibration.hpp"

#include <array>
#include <ostream>

#include <fmt/format.h>
#include <fmt/ostream.h>
#include <fmt/ranges.h>

#include "sim/base/contract.hpp"
#include "sim/cost/calibration_words.hpp"
#include "sim/cost/size_text.hpp"

namespace gradway {
namespace {

namespace words = calibration_words;

template <class Enum, std::size_t size>
std::string_view word(const std::array<std::string_view, size>& table, Enum value) {
  return table[static_cast<std::size_t>(value)];
}

template <class Enum, std::size_t size>
std::string_view word(const std::array<std::string_view, size>& table, std::optional<Enum> value) {
  return value ? word(table, *value) : words::any;
}

std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (const auto c : text) {
    if (static_cast<unsigned char>(c) < 0x20) {
      result += c == '\n' ? "\\n" : " ";
      continue;
    }
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + '"';
}

std::string time_text(Seconds time) {
  const auto microseconds = time.value() * 1e6;
  return microseconds < 1000 ? fmt::format("{:.5g} us", microseconds)
                             : fmt::format("{:.5g} ms", microseconds / 1e3);
}

std::string rate_text(BytesPerSecond rate) {
  return fmt::format("{:.5g} GB/s", rate.value() / 1e9);
}

std::string percent(double fraction) {
  return fmt::format("{:.1f} %", fraction * 100);
}

void write_sizes(std::ostream& out, std::string_view key, const std::vector<SizedTime>& points) {
  if (points.empty()) return;
  fmt::print(out, "    {}: |\n", key);
  for (const auto& point : points) {
    fmt::print(out, "      {:<8}  {}\n", size_text(point.size), time_text(point.time));
  }
}

void write_error(std::ostream& out, std::string_view median, std::string_view worst,
                 const std::optional<FitError>& error) {
  if (!error) return;
  fmt::print(out, "    {}: {}\n    {}: {}\n", median, percent(error->median), worst, percent(error->worst));
}

void write_table(std::ostream& out, const CollectiveTable& table) {
  fmt::print(out,
             "  - transport: {}\n    operation: {}\n    algorithm: {}\n    protocol: {}\n    ranks: {}\n",
             word(words::transports, table.transport), word(words::operations, table.kind),
             word(words::algorithms, table.algorithm), word(words::protocols, table.protocol), table.ranks);
  if (!table.predicted_from.empty())
    fmt::print(out, "    predicted_from: {}\n", quoted(table.predicted_from));
  if (table.samples > 0) fmt::print(out, "    samples: {}\n", table.samples);
  fmt::print(out, "    latency: {}\n    bandwidth: {}\n", time_text(table.latency),
             rate_text(table.bandwidth));
  write_error(out, "median_residual", "worst_residual", table.residual);
  write_error(out, "median_residual_with_outliers", "worst_residual_with_outliers",
              table.residual_with_outliers);
  write_error(out, "interpolation_error", "worst_interpolation_error", table.interpolation);
  write_sizes(out, "points", table.points);
  write_sizes(out, "outliers", table.outliers);
}

void write_link(std::ostream& out, const LinkRate& link) {
  fmt::print(out, "  - link: {}\n    gpus: {}\n    bandwidth: {}\n", word(words::links, link.role), link.gpus,
             rate_text(link.bandwidth));
  if (link.latency > Seconds{}) fmt::print(out, "    latency: {}\n", time_text(link.latency));
  fmt::print(out, "    smallest: {}\n    largest: {}\n    source: {}\n", size_text(link.smallest),
             size_text(link.largest), quoted(link.source));
}

void write_kernels(std::ostream& out, const KernelRates& kernels) {
  fmt::memory_buffer body;
  const auto add = [&body](std::string_view key, const std::string& value) {
    fmt::format_to(std::back_inserter(body), "  {}: {}\n", key, value);
  };
  if (!kernels.matrix.empty()) fmt::format_to(std::back_inserter(body), "  matrix:\n");
  for (const auto& matrix : kernels.matrix) {
    fmt::format_to(std::back_inserter(body), "    - {{ precision: {}, size: {}, rate: {:.4g} TFLOP/s }}\n",
                   word(words::precisions, matrix.precision), words::matrix_sizes[matrix.large ? 1 : 0],
                   matrix.rate.value() / 1e12);
  }
  if (kernels.stream) add("memory_stream", rate_text(*kernels.stream));
  if (kernels.widen) add("memory_widen", rate_text(*kernels.widen));
  if (kernels.smallest_kernel) add("smallest_kernel", time_text(*kernels.smallest_kernel));
  if (kernels.launch_cost) add("launch_cost", time_text(*kernels.launch_cost));
  if (body.size() > 0) out << "kernels:\n" << fmt::to_string(body);
}

void write_side_by_side(std::ostream& out, const SideBySide& entry) {
  fmt::print(out, "  - transport: {}\n    precision: {}\n", word(words::transports, entry.transport),
             word(words::precisions, entry.precision));
  if (entry.ranks > 0) fmt::print(out, "    ranks: {}\n", entry.ranks);
  if (entry.channels > 0) fmt::print(out, "    channels: {}\n", entry.channels);
  fmt::print(out, "    kernel_slowdown: {:.4g}\n    collective_slowdown: {:.4g}\n", entry.kernel_slowdown,
             entry.collective_slowdown);
  if (!entry.measured_on.empty()) fmt::print(out, "    measured_on: {}\n", quoted(entry.measured_on));
  fmt::print(out, "    source: {}\n", quoted(entry.source));
}

template <class Item>
void write_list(std::ostream& out, std::string_view key, const std::vector<Item>& items,
                void (*write)(std::ostream&, const Item&)) {
  if (items.empty()) return;
  fmt::print(out, "{}:\n", key);
  for (const auto& item : items) write(out, item);
}

}  // namespace

void write_calibration_file(std::ostream& out, const Calibration& calibration) {
  expects(calibration.collectives.empty(), "a fit makes tables");
  fmt::print(out, "schema: 1\nsource: {}\n", quoted(calibration.source));
  if (!calibration.date.empty()) fmt::print(out, "date: {}\n", calibration.date);
  if (calibration.samples) {
    std::vector<std::string> files;
    for (const auto& file : calibration.samples->files) files.push_back(quoted(file));
    fmt::print(out, "samples:\n  digest: {}\n  files: [{}]\n", quoted(calibration.samples->digest),
               fmt::join(files, ", "));
  }
  write_list(out, "tables", calibration.tables, write_table);
  write_list(out, "links", calibration.links, write_link);
  write_kernels(out, calibration.kernels);
  write_list(out, "side_by_side", calibration.side_by_side, write_side_by_side);
}

}  // namespace gradway
