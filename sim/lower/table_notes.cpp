// SPDX-License-Identifier: Apache-2.0
#include "sim/lower/table_notes.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/cost/nccl_model.hpp"
#include "sim/cost/size_text.hpp"

namespace gradway {
namespace {

constexpr auto small = 64_KiB;  // below it latency is nearly all there is

std::string percent(double fraction) {
  return fmt::format("{:.1f} %", fraction * 100);
}

/// "P2P all-reduce", "P2P all-reduce as ring LL128".
std::string title_of(const CollectiveTable& table) {
  auto name = fmt::format("{} {}", name_of(table.transport), name_of(table.kind));
  if (!table.algorithm && !table.protocol) return name;
  name += " as";
  if (table.algorithm) name += fmt::format(" {}", name_of(*table.algorithm));
  if (table.protocol) name += fmt::format(" {}", name_of(*table.protocol));
  return name;
}

/// One line for the report.
std::string basis_of(const TableUse& use, const TableQuestion& question, const Calibration& calibration) {
  const auto& table = *use.table;
  const auto of = calibration.date.empty() ? "" : fmt::format(" of {}", calibration.date);
  auto text =
      fmt::format("{}: calibration {}{}, {} ranks", title_of(table), calibration.name, of, question.ranks);
  if (use.upper != nullptr) text += fmt::format(" from {} and {}", table.ranks, use.upper->ranks);
  if (use.other_ranks) text += fmt::format(" from {}", table.ranks);
  text +=
      fmt::format(", {} to {}", size_text(table.points.front().size), size_text(table.points.back().size));
  if (!table.predicted_from.empty()) text += fmt::format(", predicted from {}", table.predicted_from);
  if (table.residual) {
    text += fmt::format("; fits its samples within {} (worst {})", percent(table.residual->median),
                        percent(table.residual->worst));
  }
  if (table.interpolation) {
    text += fmt::format(", a size left out within {} (worst {})", percent(table.interpolation->median),
                        percent(table.interpolation->worst));
  }
  return text;
}

/// All that was not measured, one sentence each.
std::vector<std::string> doubts_of(const TableUse& use, const TableQuestion& question) {
  const auto& table = *use.table;
  const auto what = fmt::format("{} {}", name_of(question.transport), name_of(question.kind));
  std::vector<std::string> doubts;
  if (!table.predicted_from.empty()) {
    doubts.push_back(
        fmt::format("{} was not measured: its time is predicted from {}", what, table.predicted_from));
  }
  if (use.other_operation) {
    doubts.push_back(
        fmt::format("{} was not measured: all-reduce is scaled by the bytes that each moves", what));
  }
  if (use.other_plan) {
    doubts.push_back(
        fmt::format("{} was not measured as NCCL's variables demand: scaled by NCCL's own estimates", what));
  }
  if (use.other_ranks) {
    doubts.push_back(
        fmt::format("{} collectives were measured on {} ranks, not on {}: the same bus bandwidth is "
                    "assumed",
                    name_of(question.transport), table.ranks, question.ranks));
  }
  if (question.nodes > 1) {  // a calibration is of one node
    doubts.push_back(fmt::format(
        "{} was measured inside one node, the job has {}: the same times are assumed", what, question.nodes));
  }
  if (use.below_sizes && table.points.front().size > small) {
    doubts.push_back(fmt::format("{} was measured from {} on: smaller ones fall as NCCL's own estimates do",
                                 what, size_text(table.points.front().size)));
  }
  if (use.beyond_sizes) {
    doubts.push_back(fmt::format("{} was measured up to {}: the bandwidth of that size is assumed beyond it",
                                 what, size_text(table.points.back().size)));
  }
  return doubts;
}

}  // namespace

void CollectiveNotes::add(std::vector<std::string>& list, std::string text) {
  if (std::ranges::find(list, text) == list.end()) list.push_back(std::move(text));
}

void CollectiveNotes::rests_on(const TableUse& use, const TableQuestion& question,
                               const Calibration& calibration) {
  if (std::ranges::find(told_, use) != told_.end()) return;
  told_.push_back(use);
  auto doubts = doubts_of(use, question);
  auto on = doubts.empty() && use.upper == nullptr ? Basis::measured : Basis::stretched;
  if (!use.table->predicted_from.empty()) on = Basis::predicted;
  rests_on(on, basis_of(use, question, calibration));
  for (auto& doubt : doubts) warn(std::move(doubt));
}

}  // namespace gradway
