// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <ostream>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/report/format/fields.hpp"
#include "sim/report/format/style.hpp"
#include "sim/report/format/table.hpp"
#include "sim/report/format/text.hpp"
#include "sim/report/format/words.hpp"
#include "sim/report/show/show.hpp"
#include "sim/workload/captured/captured_step.hpp"
#include "sim/workload/model.hpp"

namespace gradway::report {
namespace {

constexpr int compute_capability = 90;  // determines the attention kernels

/// All operations of one name in a micro-step.
struct CapturedTotals {
  std::int64_t forward = 0;
  std::int64_t backward = 0;
  Flops flops{};
  Bytes bytes{};
  bool is_known = true;
};

std::map<std::string, CapturedTotals> totals_by_name(const CapturedStep& captured) {
  std::map<std::string, CapturedTotals> totals;
  for (const auto& layer : captured.layers) {
    for (const auto* pass : {&layer.forward, &layer.backward}) {
      for (const auto& operation : *pass) {
        auto& total = totals[operation.name];
        ++(pass == &layer.forward ? total.forward : total.backward);
        const auto issued = kernels_of(operation, 1, compute_capability);
        total.is_known = total.is_known && issued.is_known;
        for (const auto& kernel : issued.kernels) {
          total.flops += kernel.flops;
          total.bytes += kernel.bytes;
        }
      }
    }
  }
  return totals;
}

std::string memory_of_capture(const CapturedStep& captured) {
  Bytes most{};
  for (const auto& moment : captured.memory) most = std::max(most, moment.grows + moment.fixed);
  return captured.memory.empty() ? "not recorded"
                                 : fmt::format("{} of activations at the peak", bytes_text(most));
}

/// Writes a captured model: its source, parameters and micro-batch, and per kind of operation their number,
/// FLOPs and bytes. @pre model.captured
void write_captured(std::ostream& out, const Model& model, const Style& style) {
  const auto& captured = *model.captured;
  Fields fields{out, style};
  fields.add("source", model.source);
  const auto parameters = model.parameter_count();
  fields.add("parameters",
             fmt::format("{} in {}, in {}", thousands_text(parameters),
                         counted_text(static_cast<std::int64_t>(model.parameter_tensors()), "tensor"),
                         name_of(captured.state_dtype)));
  fields.add("micro-batch",
             fmt::format("{} samples{}, {}, {}", captured.batch,
                         captured.sequence > 0 ? fmt::format(" of {} tokens", captured.sequence) : "",
                         name_of(captured.precision), name_of(captured.optimizer)));
  if (captured.accumulate > 1)
    fields.add("accumulate", fmt::format("{} micro-batches per step", captured.accumulate));
  fields.add("input", fmt::format("{} per sample", bytes_text(model.input_per_sample)));
  fields.add("memory", memory_of_capture(captured));
  if (!captured.unknown.empty()) fields.add("untimed", fmt::format("{}", fmt::join(captured.unknown, ", ")));

  std::vector<std::pair<std::string, CapturedTotals>> rows;
  for (auto& row : totals_by_name(captured)) rows.push_back(row);
  std::ranges::stable_sort(rows, [](const auto& a, const auto& b) {
    return std::pair{a.second.flops, a.second.bytes} > std::pair{b.second.flops, b.second.bytes};
  });
  using enum Table::Align;
  Table table{{{"operation", left},
               {"forward", right},
               {"backward", right},
               {"work", right},
               {"memory traffic", right}}};
  for (const auto& [name, totals] : rows) {
    table.add({name, totals.forward > 0 ? thousands_text(totals.forward) : "-",
               totals.backward > 0 ? thousands_text(totals.backward) : "-",
               totals.flops == Flops{} ? "-" : count_text(totals.flops.value(), "FLOP"),
               bytes_text(totals.bytes)});
  }
  out << '\n';
  table.write(out, Style{style.colour, Style::unlimited, Style::unlimited});
}

std::string shapes_text(const Layer& layer) {
  std::vector<std::string> shapes;
  for (const auto& parameter : layer.parameters) {
    shapes.push_back(parameter.shape.empty() ? "1" : fmt::format("{}", fmt::join(parameter.shape, "x")));
  }
  return shapes.empty() ? "-" : fmt::format("{}", fmt::join(shapes, ", "));
}

std::string work_text(const Work& work) {
  if (work.time) return time_text(*work.time);
  return work.flops_per_sample.value() == 0 ? "-" : count_text(work.flops_per_sample.value(), "FLOP");
}

Flops total_flops(const Model& model) {
  Flops sum{};
  for (const auto& layer : model.layers) {
    if (!layer.forward.time) sum += layer.forward.flops_per_sample;
  }
  return sum;
}

std::string anchor_text(const Anchor& anchor) {
  return fmt::format("{} per step on {}, {}, batch {}, {} ({})", time_text(anchor.step_time), anchor.gpu,
                     name_of(anchor.precision), anchor.batch, name_of(anchor.optimizer), anchor.source);
}

}  // namespace

void write_model(std::ostream& out, const Model& model, const Style& style) {
  Fields fields{out, style};
  out << style.paint(Paint::bold, model.name) << "\n\n";
  if (model.profile) {
    fields.add("source", model.source);
    fields.add("input", fmt::format("{} per sample", bytes_text(model.input_per_sample)));
    return write_profile(out, *model.profile, style);
  }
  if (model.captured) return write_captured(out, model, style);
  const auto parameters = model.parameter_count();
  fields.add("parameters", fmt::format("{} in {} and {}, {} in fp32", thousands_text(parameters),
                                       counted_text(model.parameter_tensors(), "tensor"),
                                       counted_text(model.layers.size(), "layer"),
                                       bytes_text(Bytes{4 * static_cast<double>(parameters)})));
  if (const auto& tables = model.tables; !tables.empty())
    fields.add("tables", fmt::format("{}, {} rows of {} numbers, {} in fp32; {:.4g} lookups per sample",
                                     counted_text(tables.tables.size(), "embedding table"),
                                     thousands_text(tables.rows()), tables.width, bytes_text(tables.size()),
                                     tables.lookups()));
  fields.add("forward", fmt::format("{} per sample", count_text(total_flops(model).value(), "FLOP")));
  fields.add("input", fmt::format("{} per sample", bytes_text(model.input_per_sample)));
  if (model.optimizer_time)
    fields.add("optimizer", fmt::format("{} per step", time_text(*model.optimizer_time)));
  std::vector<std::string> anchors;
  for (const auto& anchor : model.anchors) anchors.push_back(anchor_text(anchor));
  fields.add("anchors", anchors.empty()
                            ? std::vector<std::string>{"none: compute times follow the GPU's datasheet"}
                            : anchors);
  fields.add("source", model.source);

  using enum Table::Align;
  Table table{{{"layer", left}, {"parameters", right}, {"forward", right}, {"tensors", left}}};
  for (const auto& layer : model.layers) {
    table.add(
        {layer.name, thousands_text(layer.parameter_count()), work_text(layer.forward), shapes_text(layer)});
  }
  out << '\n';
  table.write(out, Style{style.colour, Style::unlimited, Style::unlimited});
}

}  // namespace gradway::report
