// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/cost/calibration_words.hpp"
#include "sim/cost/collective_table.hpp"
#include "sim/cost/kernel_times.hpp"
#include "sim/cost/measured_rates.hpp"
#include "sim/cost/nccl_model.hpp"
#include "sim/report/format/fields.hpp"
#include "sim/report/format/style.hpp"
#include "sim/report/format/table.hpp"
#include "sim/report/format/text.hpp"
#include "sim/report/format/words.hpp"
#include "sim/report/show/show.hpp"

namespace gradway::report {
namespace {

namespace words = calibration_words;

using enum Table::Align;

/// "0.5 / 2.1 %", median and worst error; "-" if unknown.
std::string error_text(const std::optional<FitError>& error) {
  if (!error) return "-";
  return fmt::format("{:.1f} / {:.1f} %", error->median * 100, error->worst * 100);
}

template <class Words, class Enum>
std::string word(const Words& table, Enum value) {
  return std::string{table[static_cast<std::size_t>(value)]};
}

std::string count_or_dash(int count) {
  return count == 0 ? "-" : fmt::format("{}", count);
}

std::string time_or_dash(Seconds time) {
  return time > Seconds{} ? time_text(time) : "-";
}

/// A row of the table of kernels.
void add(Table& rows, std::string label, Seconds base, std::string rate, const std::optional<double>& of_peak,
         const Fitted& fitted) {
  rows.add_cells({{"kernels", std::move(label)},
                  {"latency", time_or_dash(base), right},
                  {"achieved", std::move(rate), right},
                  {"of datasheet", of_peak ? percent_text(*of_peak) : "-", right},
                  {"samples", count_or_dash(fitted.samples), right},
                  {"residual", error_text(fitted.residual), right}});
}

// The measured rates of a calibration. Each function writes a table after an empty line, or nothing if there
// are no rates.
void write_links(std::ostream& out, const std::vector<LinkRate>& links, const Style& style) {
  if (links.empty()) return;
  Table rows;
  for (const auto& link : links) {
    const auto range = link.least && link.most
                           ? fmt::format("{} to {}", rate_text(*link.least), rate_text(*link.most))
                           : "-";
    rows.add_cells({{"link", word(words::links, link.role)},
                    {"GPUs", fmt::format("{}", link.gpus), right},
                    {"from", exact_bytes_text(link.smallest), right},
                    {"to", exact_bytes_text(link.largest), right},
                    {"latency", time_or_dash(link.latency), right},
                    {"bandwidth", rate_text(link.bandwidth), right},
                    {"leave-one-out range", range, right},
                    {"samples", count_or_dash(link.fitted.samples), right},
                    {"residual", error_text(link.fitted.residual), right},
                    {"source", link.source}});
  }
  out << '\n';
  rows.write(out, style.unlimited_width());
}

void write_kernels(std::ostream& out, const KernelRates& kernels, const Style& style) {
  if (kernels.empty()) return;
  Table rows;
  for (const auto& rate : kernels.matrix) {
    add(rows,
        fmt::format("{} {} products", word(words::product_shapes, rate.shape),
                    word(words::arithmetics, rate.arithmetic)),
        {}, count_text(rate.rate.value(), "FLOP/s"), rate.of_peak, rate.fitted);
  }
  for (const auto& rate : kernels.memory) {
    add(rows, word(words::memory_kernels, rate.kernel), rate.latency, rate_text(rate.bandwidth), rate.of_peak,
        rate.fitted);
  }
  for (const auto& rate : kernels.optimizers) {
    add(rows, fmt::format("{}, {} tensors", word(words::optimizers, rate.optimizer), rate.tensors),
        rate.floor, rate_text(rate.bandwidth), {}, rate.fitted);
  }
  for (const auto& rate : kernels.attention) {
    add(rows,
        fmt::format("{}{} attention", word(words::arithmetics, rate.arithmetic),
                    rate.causal ? " causal" : ""),
        rate.latency, count_text(rate.rate.value(), "FLOP/s"), rate.of_peak, rate.fitted);
  }
  for (const auto& cost : kernels.launches)
    add(rows, word(words::launch_costs, cost.what), cost.time, "-", {}, cost.fitted);
  if (kernels.smallest_kernel) add(rows, "smallest kernel", *kernels.smallest_kernel, "-", {}, {});
  out << '\n';
  rows.write(out, style.unlimited_width());
}

/// The timed kernels of one kind and number format.
struct TimedGroup {
  std::string name;  ///< "product bf16"
  int rows = 0;
  Seconds shortest{};
  Seconds longest{};
  FlopsPerSecond best{};  ///< 0 for memory-bound kernels
};

/// Product of all dimensions.
double times_all(const std::vector<double>& size) {
  double product = 1;
  for (const auto number : size) product *= number;
  return product;
}

/// Operations of a compute-bound kernel; zero for memory-bound kernels. A causal mask halves attention; its
/// backward pass has five products, its forward pass two.
Flops work_of(const TimedKind& kind, const KernelTime& row) {
  const auto& size = row.size;
  if (kind.name.ends_with("product")) return Flops{2 * times_all(size)};
  if (kind.name.starts_with("attention")) {
    const auto pairs = row.kernel.ends_with("causal") ? 0.5 : 1.0;
    return Flops{(kind.name.ends_with("backward") ? 10 : 4) * pairs * times_all(size) * size[2]};
  }
  if (kind.name.starts_with("convolution")) {
    const auto side = std::floor((size[6] + 2 * size[5] - size[3]) / size[4]) + 1;
    return Flops{2 * size[0] * size[2] * side * side * (size[1] / size[7]) * size[3] * size[3]};
  }
  return Flops{};
}

/// "product bf16", without layout and other details
std::string group_name(const TimedKind& kind, const std::string& kernel) {
  const auto number = std::ranges::find(kind.words, "number");
  if (number == kind.words.end()) return std::string{kind.name};
  std::string_view remaining = kernel;
  for (auto word = kind.words.begin(); word <= number; ++word)
    remaining.remove_prefix(remaining.find(' ') + 1);
  return fmt::format("{} {}", kind.name, remaining.substr(0, remaining.find(' ')));
}

std::vector<TimedGroup> groups_of(const KernelTimes& times) {
  std::vector<TimedGroup> groups;
  for (const auto& row : times.rows) {
    const auto& kind = *kind_of_name(row.kernel.substr(0, row.kernel.find(' ')));
    const auto name = group_name(kind, row.kernel);
    auto group = std::ranges::find(groups, name, &TimedGroup::name);
    if (group == groups.end()) group = groups.insert(group, {name, 0, row.time, row.time, {}});
    ++group->rows;
    group->shortest = std::min(group->shortest, row.time);
    group->longest = std::max(group->longest, row.time);
    group->best = std::max(group->best, work_of(kind, row) / row.time);
  }
  return groups;
}

/// Writes a table of timed kernels after an empty line: per kind and number format the number of kernels, the
/// shortest and longest time, and the best rate of compute-bound kernels.
void write_kernel_times(std::ostream& out, const KernelTimes& times, const Style& style) {
  using enum Table::Align;
  Table rows{{{fmt::format("timed kernels on {}", times.gpu), left},
              {"rows", right},
              {"shortest", right},
              {"longest", right},
              {"best rate", right}}};
  for (const auto& group : groups_of(times)) {
    rows.add({group.name, fmt::format("{}", group.rows), time_text(group.shortest), time_text(group.longest),
              group.best > FlopsPerSecond{} ? count_text(group.best.value(), "FLOP/s") : "-"});
  }
  out << '\n';
  rows.write(out, style);
}

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
  Table rows;
  for (const auto& table : tables) {
    const auto& with_outliers = table.outliers.empty() ? table.residual : table.residual_with_outliers;
    rows.add_cells(
        {{"collective", title_of(table)},
         {"algorithm", plan_text(table)},
         {"ranks", fmt::format("{}", table.ranks), right},
         {"samples", table.predicted_from.empty() ? fmt::format("{}", table.samples) : table.predicted_from,
          right},
         {"from", exact_bytes_text(table.points.front().size), right},
         {"to", exact_bytes_text(table.points.back().size), right},
         {"latency", time_text(table.latency), right},
         {"bandwidth", rate_text(table.bandwidth), right},
         {"residual", error_text(table.residual), right},
         {"with outliers", error_text(with_outliers), right},
         {"leave-one-out error", error_text(table.interpolation), right},
         {"spread", error_text(table.spread), right},
         {"outliers", fmt::format("{}", table.outliers.size()), right}});
  }
  rows.write(out, style.unlimited_width());
}

void write_outliers(std::ostream& out, const std::vector<CollectiveTable>& tables, const Style& style) {
  Table rows;
  for (const auto& table : tables) {
    for (const auto& outlier : table.outliers) {
      rows.add_cells({{"outlier of", title_of(table)},
                      {"algorithm", plan_text(table)},
                      {"ranks", fmt::format("{}", table.ranks), right},
                      {"size", exact_bytes_text(outlier.size), right},
                      {"measured", time_text(outlier.time), right},
                      {"table", time_text(time_at(table, outlier.size)), right}});
    }
  }
  if (rows.empty()) return;
  out << '\n';
  rows.write(out, style.unlimited_width());
}

void write_contention(std::ostream& out, const std::vector<ContentionFactors>& entries, const Style& style) {
  if (entries.empty()) return;
  Table rows;
  for (const auto& entry : entries) {
    rows.add_cells({{"contention",
                     fmt::format("{} with {} kernels", name_of(entry.transport), name_of(entry.precision))},
                    {"ranks", count_or_dash(entry.ranks), right},
                    {"channels", count_or_dash(entry.channels), right},
                    {"slow-down of kernels", fmt::format("{:.3f}", entry.kernel_slowdown), right},
                    {"slow-down of collectives", fmt::format("{:.3f}", entry.collective_slowdown), right}});
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
  rows.write(out, style.unlimited_width());
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
