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
#include "sim/fit/kernels.hpp"
#include "sim/fit/yaml_text.hpp"

namespace gradway {
namespace {

namespace words = calibration_words;

template <class Enum, std::size_t size>
std::string_view word_or_any(const std::array<std::string_view, size>& table, std::optional<Enum> value) {
  return value ? word_of(table, *value) : words::any;
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
  fmt::print(out, "    {}: {}\n    {}: {}\n", median, percent_text(error->median), worst,
             percent_text(error->worst));
}

void write_table(std::ostream& out, const CollectiveTable& table) {
  fmt::print(out,
             "  - transport: {}\n    operation: {}\n    algorithm: {}\n    protocol: {}\n    ranks: {}\n",
             word_of(words::transports, table.transport), word_of(words::operations, table.kind),
             word_or_any(words::algorithms, table.algorithm), word_or_any(words::protocols, table.protocol),
             table.ranks);
  if (table.nodes > 1) fmt::print(out, "    nodes: {}\n", table.nodes);
  if (!table.predicted_from.empty())
    fmt::print(out, "    predicted_from: {}\n", quoted_text(table.predicted_from));
  if (table.samples > 0) fmt::print(out, "    samples: {}\n", table.samples);
  fmt::print(out, "    latency: {}\n    bandwidth: {}\n", time_text(table.latency),
             rate_text(table.bandwidth));
  write_error(out, "median_residual", "worst_residual", table.residual);
  write_error(out, "median_residual_with_outliers", "worst_residual_with_outliers",
              table.residual_with_outliers);
  write_error(out, "interpolation_error", "worst_interpolation_error", table.interpolation);
  write_error(out, "spread", "worst_spread", table.spread);
  if (table.uncertainty) fmt::print(out, "    uncertainty: {}\n", percent_text(*table.uncertainty));
  write_sizes(out, "points", table.points);
  write_sizes(out, "outliers", table.outliers);
}

void write_contention(std::ostream& out, const ContentionFactors& entry) {
  fmt::print(out, "  - transport: {}\n    precision: {}\n", word_of(words::transports, entry.transport),
             word_of(words::precisions, entry.precision));
  if (entry.ranks > 0) fmt::print(out, "    ranks: {}\n", entry.ranks);
  if (entry.channels > 0) fmt::print(out, "    channels: {}\n", entry.channels);
  fmt::print(out, "    kernel_slowdown: {:.4g}\n    collective_slowdown: {:.4g}\n", entry.kernel_slowdown,
             entry.collective_slowdown);
  if (!entry.measured_on.empty()) fmt::print(out, "    measured_on: {}\n", quoted_text(entry.measured_on));
  fmt::print(out, "    source: {}\n", quoted_text(entry.source));
}

void write_held_back(std::ostream& out, const HoldoutError& entry) {
  fmt::print(out, "  - {{ what: {}, rows: {}, median: {}, worst: {} }}\n", quoted_text(entry.what),
             entry.rows, percent_text(entry.error.median), percent_text(entry.error.worst));
}

void write_adapted(std::ostream& out, const Adaptation& adapted) {
  fmt::print(out, "adapted:\n  from: {}\n", quoted_text(adapted.from));
  if (!adapted.digest.empty()) fmt::print(out, "  digest: {}\n", quoted_text(adapted.digest));
  out << "  parts:\n";
  const auto error_text = [](std::string_view when, const std::optional<FitError>& error) {
    return error ? fmt::format(", median_{0}: {1}, worst_{0}: {2}", when, percent_text(error->median),
                               percent_text(error->worst))
                 : "";
  };
  for (const auto& part : adapted.parts) {
    fmt::print(out, "    - {{ what: {}, rows: {}, fixed: {:.5g}, moving: {:.5g}{}{}{} }}\n",
               quoted_text(part.what), part.rows, part.fixed, part.moving, error_text("before", part.before),
               error_text("after", part.after),
               part.uncertainty ? fmt::format(", uncertainty: {}", percent_text(*part.uncertainty)) : "");
  }
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
  fmt::print(out, "schema: 1\nsource: {}\n", quoted_text(calibration.source));
  if (!calibration.date.empty()) fmt::print(out, "date: {}\n", calibration.date);
  if (calibration.samples) {
    std::vector<std::string> files;
    for (const auto& file : calibration.samples->files) files.push_back(quoted_text(file));
    fmt::print(out, "samples:\n  digest: {}\n  files: [{}]\n", quoted_text(calibration.samples->digest),
               fmt::join(files, ", "));
  }
  if (calibration.adapted) write_adapted(out, *calibration.adapted);
  write_list(out, "held_back", calibration.holdout_errors, write_held_back);
  write_list(out, "tables", calibration.tables, write_table);
  write_list(out, "links", calibration.links, write_link);
  write_kernels(out, calibration.kernels);
  write_list(out, "contention", calibration.contention, write_contention);
  if (calibration.kernel_times) write_kernel_times(out, *calibration.kernel_times);
}

}  // namespace gradway
