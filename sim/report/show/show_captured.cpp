// SPDX-License-Identifier: Apache-2.0
#include "sim/report/show/show_captured.hpp"

#include <algorithm>
#include <map>
#include <ostream>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/report/format/fields.hpp"
#include "sim/report/format/table.hpp"
#include "sim/report/format/text.hpp"
#include "sim/workload/captured/captured_step.hpp"

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

}  // namespace

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

}  // namespace gradway::report
