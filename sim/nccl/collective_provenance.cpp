// SPDX-License-Identifier: Apache-2.0
#include "sim/nccl/collective_provenance.hpp"

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

std::string line_of_table(const CollectiveProvenance& evidence, const Calibration& calibration) {
  const auto& use = evidence.use;
  const auto& table = *use.table;
  const auto of = calibration.date.empty() ? "" : fmt::format(" of {}", calibration.date);
  auto text =
      fmt::format("{}: calibration {}{}, {} ranks", title_of(table), calibration.name, of, evidence.ranks);
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
  if (evidence.adapted)
    text += fmt::format("; adapted to the machine, nine of ten within {}", percent(*evidence.adapted));
  return text;
}

}  // namespace

void add(std::vector<CollectiveProvenance>& all, const std::vector<CollectiveProvenance>& more) {
  for (const auto& one : more)
    if (std::ranges::find(all, one) == all.end()) all.push_back(one);
}

std::string basis_text(const CollectiveProvenance& evidence, const Calibration& calibration) {
  if (evidence.is_floor) {
    auto alone = evidence;
    alone.is_floor = false;
    return "not faster than one node: " + basis_text(alone, calibration);
  }
  switch (evidence.source) {
    case CollectiveProvenance::Source::ideal:
      return "collectives: ideal rings over the platform's links";
    case CollectiveProvenance::Source::table:
      return line_of_table(evidence, calibration);
    case CollectiveProvenance::Source::sample: {
      const auto& sample = *evidence.sample;
      return fmt::format("{} all-reduce: {} of {:.1f} MB on {} ranks in {:.3g} ms ({})",
                         name_of(evidence.transport), name_of(sample.kind), sample.size.value() / 1e6,
                         sample.ranks, sample.time.value() * 1e3, sample.source);
    }
    case CollectiveProvenance::Source::nominal:
      return fmt::format("{} all-reduce: NCCL's nominal channel rates, nothing measured",
                         name_of(evidence.transport));
    case CollectiveProvenance::Source::nvls:
      return fmt::format("NVLS all-reduce: NCCL's own estimate times {}, which 8 H100 reach ({})",
                         nvls_reached, nvls_source);
  }
  return {};
}

std::vector<std::string> uncertainties_of(const CollectiveProvenance& evidence) {
  const auto& use = evidence.use;
  const auto& table = *use.table;
  const auto what = fmt::format("{} {}", name_of(evidence.transport), name_of(evidence.kind));
  std::vector<std::string> uncertainties;
  if (!table.predicted_from.empty()) {
    uncertainties.push_back(
        fmt::format("{} was not measured: its time is predicted from {}", what, table.predicted_from));
  }
  if (use.other_operation) {
    uncertainties.push_back(fmt::format("{} was not measured: {} is scaled by the bytes that each moves",
                                        what, name_of(table.kind)));
  }
  if (use.other_plan) {
    uncertainties.push_back(
        fmt::format("{} was not measured as NCCL's variables demand: scaled by NCCL's own estimates", what));
  }
  if (use.other_channels) {
    uncertainties.push_back(
        fmt::format("{} was not measured with this number of channels: scaled by what channels reach "
                    "on two H200",
                    what));
  }
  if (use.other_ranks) {
    uncertainties.push_back(
        fmt::format("{} collectives were measured on {} ranks, not on {}: the same bus bandwidth is "
                    "assumed",
                    name_of(evidence.transport), table.ranks, evidence.ranks));
  }
  if (evidence.nodes > 1) {  // a calibration is of one node
    uncertainties.push_back(fmt::format(
        "{} was measured inside one node, the job has {}: the same times are assumed", what, evidence.nodes));
  }
  if (use.below_sizes && table.points.front().size > small) {
    uncertainties.push_back(
        fmt::format("{} was measured from {} on: smaller ones fall as NCCL's own estimates do", what,
                    size_text(table.points.front().size)));
  }
  if (use.beyond_sizes) {
    uncertainties.push_back(
        fmt::format("{} was measured up to {}: the bandwidth of that size is assumed beyond it", what,
                    size_text(table.points.back().size)));
  }
  return uncertainties;
}

std::vector<std::string> warnings_of(const CollectiveProvenance& evidence) {
  if (evidence.is_floor) return {};
  const auto transport = name_of(evidence.transport);
  if (evidence.source == CollectiveProvenance::Source::table) return uncertainties_of(evidence);
  if (evidence.source == CollectiveProvenance::Source::sample && evidence.sample->ranks != evidence.ranks) {
    return {fmt::format("{} collectives were measured on {} ranks, not on {}", transport,
                        evidence.sample->ranks, evidence.ranks)};
  }
  const bool is_nvlink = evidence.transport == Transport::p2p && evidence.nvlink;
  if (evidence.source == CollectiveProvenance::Source::nominal && !is_nvlink) {
    return {
        fmt::format("the rate of {} collectives on this platform was never measured: NCCL's nominal "
                    "rate is often too high",
                    transport)};
  }
  return {};
}

}  // namespace gradway
