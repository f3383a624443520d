// SPDX-License-Identifier: Apache-2.0
#include "sim/report/show/show.hpp"

#include <ostream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/cost/calibration_words.hpp"
#include "sim/cost/collective_table.hpp"
#include "sim/cost/nccl_model.hpp"
#include "sim/report/format/fields.hpp"
#include "sim/report/format/table.hpp"
#include "sim/report/format/text.hpp"
#include "sim/report/format/words.hpp"
#include "sim/report/show/show_rates.hpp"

namespace gradway::report {
namespace {

using enum Table::Align;

std::string title_of(const CollectiveTable& table) {
  return fmt::format("{} {}{}", name_of(table.transport), name_of(table.kind),
                     table.nodes > 1 ? fmt::format(" on {} nodes", table.nodes) : "");
}

std::string plan_text(const CollectiveTable& table) {
  if (!table.algorithm || !table.protocol) return "NCCL's choice";
  return fmt::format("{} {}", name_of(*table.algorithm), name_of(*table.protocol));
}

void write_tables(std::ostream& out, const std::vector<CollectiveTable>& tables, const Style& style) {
  Table rows{{{"collective", left},
              {"algorithm", left},
              {"ranks", right},
              {"samples", right},
              {"from", right},
              {"to", right},
              {"latency", right},
              {"bandwidth", right},
              {"residual", right},
              {"with outliers", right},
              {"leave-one-out error", right},
              {"spread", right},
              {"outliers", right}}};
  for (const auto& table : tables) {
    rows.add({title_of(table), plan_text(table), fmt::format("{}", table.ranks),
              table.predicted_from.empty() ? fmt::format("{}", table.samples) : table.predicted_from,
              exact_bytes_text(table.points.front().size), exact_bytes_text(table.points.back().size),
              time_text(table.latency), rate_text(table.bandwidth), error_text(table.residual),
              error_text(table.outliers.empty() ? table.residual : table.residual_with_outliers),
              error_text(table.interpolation), error_text(table.spread),
              fmt::format("{}", table.outliers.size())});
  }
  rows.write(out, Style{style.colour, Style::unlimited, Style::unlimited});
}

void write_outliers(std::ostream& out, const std::vector<CollectiveTable>& tables, const Style& style) {
  Table rows{{{"outlier of", left},
              {"algorithm", left},
              {"ranks", right},
              {"size", right},
              {"measured", right},
              {"table", right}}};
  for (const auto& table : tables) {
    for (const auto& outlier : table.outliers) {
      rows.add({title_of(table), plan_text(table), fmt::format("{}", table.ranks),
                exact_bytes_text(outlier.size), time_text(outlier.time),
                time_text(time_at(table, outlier.size))});
    }
  }
  if (rows.empty()) return;
  out << '\n';
  rows.write(out, Style{style.colour, Style::unlimited, Style::unlimited});
}

void write_contention(std::ostream& out, const std::vector<ContentionFactors>& entries, const Style& style) {
  if (entries.empty()) return;
  Table rows{{{"contention", left},
              {"ranks", right},
              {"channels", right},
              {"slow-down of kernels", right},
              {"slow-down of collectives", right}}};
  const auto number = [](int value) { return value == 0 ? std::string{"-"} : fmt::format("{}", value); };
  for (const auto& entry : entries) {
    rows.add({fmt::format("{} with {} kernels", name_of(entry.transport), name_of(entry.precision)),
              number(entry.ranks), number(entry.channels), fmt::format("{:.3f}", entry.kernel_slowdown),
              fmt::format("{:.3f}", entry.collective_slowdown)});
  }
  out << '\n';
  rows.write(out, style);
}

void write_adapted(std::ostream& out, const Adaptation& adapted, const Style& style) {
  Table rows{{{"adapted", left},
              {"rows", right},
              {"latency", right},
              {"time per byte", right},
              {"error before", right},
              {"error after", right},
              {"90 % within", right}}};
  for (const auto& part : adapted.parts) {
    rows.add({part.what, fmt::format("{}", part.rows), fmt::format("x {:.3f}", part.fixed),
              fmt::format("x {:.3f}", part.moving), error_text(part.before), error_text(part.after),
              part.uncertainty ? percent_text(*part.uncertainty) : "-"});
  }
  out << '\n';
  rows.write(out, Style{style.colour, Style::unlimited, Style::unlimited});
}

void write_held_back(std::ostream& out, const std::vector<HoldoutError>& entries) {
  if (!entries.empty()) out << '\n';
  for (const auto& [group, rows, error] : entries) {
    out << fmt::format("held back: {}: median {}, worst {} ({})\n", group, percent_text(error.median),
                       percent_text(error.worst), counted_text(rows, "row"));
  }
}

std::string sample_text(const CollectiveSample& sample) {
  return fmt::format("{} {} of {} on {} ranks in {} ({})", name_of(sample.transport), name_of(sample.kind),
                     bytes_text(sample.size), sample.ranks, time_text(sample.time), sample.source);
}

}  // namespace

void write_calibration(std::ostream& out, const Calibration& calibration, const Style& style) {
  Fields fields{out, style};
  out << style.paint(Paint::bold, calibration.name) << "\n\n";
  fields.add("measured", calibration.date.empty() ? "date unknown" : calibration.date);
  fields.add("source", calibration.source);
  if (const auto& samples = calibration.samples) {
    fields.add("samples", fmt::format("{} (digest {})", fmt::join(samples->files, ", "), samples->digest));
  }
  if (const auto& adapted = calibration.adapted) {
    fields.add("adapted from", adapted->digest.empty()
                                   ? adapted->from
                                   : fmt::format("{} (its samples: {})", adapted->from, adapted->digest));
  }
  std::vector<std::string> single;
  for (const auto& sample : calibration.collectives) single.push_back(sample_text(sample));
  fields.add("collectives", single);
  if (calibration.adapted) write_adapted(out, *calibration.adapted, style);
  if (!calibration.tables.empty()) {
    out << '\n';
    write_tables(out, calibration.tables, style);
  }
  write_outliers(out, calibration.tables, style);
  write_links(out, calibration.links, style);
  write_kernels(out, calibration.kernels, style);
  if (calibration.kernel_times) write_kernel_times(out, *calibration.kernel_times, style);
  write_contention(out, calibration.contention, style);
  write_held_back(out, calibration.holdout_errors);
}

}  // namespace gradway::report
