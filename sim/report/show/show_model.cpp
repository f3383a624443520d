// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <map>
#include <numeric>
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
#include "sim/workload/profile_words.hpp"

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
  if (!captured.strategy.empty()) fields.add("strategy", captured.strategy);
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
  table.write(out, style.unlimited_width());
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
  table.write(out, style.unlimited_width());
}

namespace {

double elements(const std::vector<std::int64_t>& shape) {
  return std::accumulate(shape.begin(), shape.end(), 1.0, std::multiplies<>{});
}

/// "296 tensors, 306,535,400 elements, 1.226 GB"
template <class Tensor>
std::string tensors_text(const std::vector<Tensor>& tensors) {
  double count = 0;
  double bytes = 0;
  for (const auto& tensor : tensors) {
    count += elements(tensor.shape);
    bytes += elements(tensor.shape) * tensor.element_bytes;
  }
  return fmt::format("{}, {} elements, {}", counted_text(tensors.size(), "tensor"),
                     thousands_text(static_cast<std::int64_t>(count)), bytes_text(Bytes{bytes}));
}

struct Totals {
  std::int64_t launches = 0;
  Seconds gpu{};
  Seconds cpu{};
  Flops flops{};

  void add(const Launch& launch) {
    ++launches;
    gpu += launch.gpu;
    cpu += launch.cpu;
    flops += launch.flops;
  }
};

std::vector<std::string> cells(std::string phase, std::string kind, const Totals& totals) {
  return {std::move(phase),
          std::move(kind),
          thousands_text(totals.launches),
          time_text(totals.gpu),
          time_text(totals.cpu),
          totals.flops == Flops{} ? "-" : count_text(totals.flops.value(), "FLOP")};
}

Totals totals_of(const Profile& profile, std::optional<ProfiledPhase> phase = {},
                 std::optional<KernelClass> kind = {}) {
  Totals totals;
  for (const auto& launch : profile.launches) {
    if ((!phase || launch.phase == *phase) && (!kind || launch.kind == *kind)) totals.add(launch);
  }
  return totals;
}

/// Whether the CPU or the GPU limits the step. The profiler slows down the CPU.
std::string pace_text(const Profile& profile, const Totals& totals) {
  const double share = totals.cpu / totals.gpu;
  if (share < 0.9)
    return fmt::format("the GPU: the CPU issues the step in {} of the GPU's time", percent_text(share));
  const auto under = profile.step_time ? "" : ", but the profiler may be the cause";
  return fmt::format("the CPU: issuing the step takes {} of the GPU's time{}", percent_text(share), under);
}

/// The source of the memory of activations, and its peak.
std::string memory_text(const Profile& profile) {
  if (profile.memory_from == MemorySource::none) return "activations are unknown";
  Bytes most{};
  for (const auto& moment : profile.memory) most = std::max(most, moment.grows + moment.fixed);
  const auto lacks = profile.memory_lacks.empty()
                         ? ""
                         : fmt::format(", without those of {}", fmt::join(profile.memory_lacks, ", "));
  constexpr std::array<std::string_view, 4> sources{"", "from shapes",
                                                    "from the operands of compiled kernels", "as recorded"};
  return fmt::format("activations of {} {}{}", bytes_text(most),
                     sources[static_cast<std::size_t>(profile.memory_from)], lacks);
}

void write_head(Fields& fields, const Profile& profile, const Totals& totals) {
  fields.add("measured on", fmt::format("{}, {}, batch {}, {}", profile.gpu, name_of(profile.precision),
                                        profile.batch, name_of(profile.optimizer)));
  fields.add("steps",
             fmt::format("{}, {} each under the profiler", profile.steps, time_text(profile.traced_step)));
  fields.add("step time", profile.step_time
                              ? fmt::format("{} without the profiler", time_text(*profile.step_time))
                              : "not measured without the profiler");
  fields.add("gradients", tensors_text(profile.gradients));
  if (!profile.buffers.empty()) fields.add("buffers", tensors_text(profile.buffers));
  fields.add("launches", fmt::format("{}: {} on the GPU, {} of the CPU, {} between kernels",
                                     thousands_text(totals.launches), time_text(totals.gpu),
                                     time_text(totals.cpu), time_text(profile.gap)));
  fields.add("memory", memory_text(profile));
  fields.add("limited by", pace_text(profile, totals));
}

}  // namespace

void write_profile(std::ostream& out, const Profile& profile, const Style& style) {
  namespace words = profile_words;
  const auto step_totals = totals_of(profile);
  Fields fields{out, style};
  write_head(fields, profile, step_totals);

  using enum Table::Align;
  Table table{{{"phase", left},
               {"class", left},
               {"launches", right},
               {"GPU", right},
               {"CPU", right},
               {"operations", right}}};
  for (std::size_t phase = 0; phase < words::phases.size(); ++phase) {
    for (std::size_t kind = 0; kind < words::classes.size(); ++kind) {
      const auto totals =
          totals_of(profile, static_cast<ProfiledPhase>(phase), static_cast<KernelClass>(kind));
      if (totals.launches > 0)
        table.add(cells(std::string{words::phases[phase]}, std::string{words::classes[kind]}, totals));
    }
  }
  table.add(cells("all", "", step_totals));
  out << '\n';
  table.write(out, style);
}

}  // namespace gradway::report
