// SPDX-License-Identifier: Apache-2.0
#include "sim/report/show/show.hpp"

#include <algorithm>
#include <ostream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/report/format/fields.hpp"
#include "sim/report/format/table.hpp"
#include "sim/report/format/text.hpp"
#include "sim/report/format/words.hpp"
#include "sim/report/show/show_captured.hpp"

namespace gradway::report {
namespace {

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
