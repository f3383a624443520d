// SPDX-License-Identifier: Apache-2.0
#include "sim/nccl/collective_provenance.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "sim/base/make_warning.hpp"
#include "sim/cost/nccl_model.hpp"
#include "sim/cost/size_text.hpp"

namespace gradway {
namespace {

constexpr auto small = 64_KiB;  // below it latency is nearly all there is

/// "SHM collectives"
std::string all_collectives(const CollectiveProvenance& collective) {
  return fmt::format("{} collectives", name_of(collective.transport));
}

Warning measured_on_other_ranks(const CollectiveProvenance& collective, int measured) {
  return make_warning<"extrapolated-collectives/other-ranks", "collectives", "measured", "ranks">(
      all_collectives(collective), measured, collective.ranks);
}

std::string percent(double fraction) {
  return fmt::format("{:.1f} %", fraction * 100);
}

/// How far the times of a table are off, as far as that is known.
std::string errors_of(const CollectiveTable& table, const std::optional<double>& adapted) {
  std::string text;
  if (table.residual)
    text += fmt::format("; fits its samples within {} (worst {})", percent(table.residual->median),
                        percent(table.residual->worst));
  if (table.interpolation)
    text += fmt::format(", a size left out within {} (worst {})", percent(table.interpolation->median),
                        percent(table.interpolation->worst));
  if (adapted)
    text += fmt::format("; adapted to the machine, 90 % prediction interval: within {}", percent(*adapted));
  return text;
}

/// A calibration's table of times by size.
ProvenanceFact times_of_table(const CollectiveProvenance& collective, const Calibration& calibration) {
  const auto& use = collective.use;
  const auto& table = *use.table;
  auto title = fmt::format("{} {}", name_of(table.transport), name_of(table.kind));
  if (table.algorithm || table.protocol) title += " as";  // forced
  if (table.algorithm) title += fmt::format(" {}", name_of(*table.algorithm));
  if (table.protocol) title += fmt::format(" {}", name_of(*table.protocol));
  const auto date = calibration.date.empty() ? "" : fmt::format(" of {}", calibration.date);
  auto statement = fmt::format("calibration {}{}, {} ranks", calibration.name, date, collective.ranks);
  if (use.upper != nullptr) {
    statement += fmt::format(" from {} and {}", table.ranks, use.upper->ranks);
  } else if (use.other_ranks) {
    statement += fmt::format(" from {}", table.ranks);
  }
  statement +=
      fmt::format(", {} to {}", size_text(table.points.front().size), size_text(table.points.back().size));
  if (!table.predicted_from.empty()) statement += fmt::format(", predicted from {}", table.predicted_from);
  return {std::move(title), std::move(statement), errors_of(table, collective.adapted)};
}

ProvenanceFact source_of(const CollectiveProvenance& collective, const Calibration& calibration) {
  using Source = CollectiveProvenance::Source;
  const auto all_reduce = fmt::format("{} all-reduce", name_of(collective.transport));
  switch (collective.source) {
    case Source::ideal:
      return {"collectives", "ideal rings over the platform's links"};
    case Source::table:
      return times_of_table(collective, calibration);
    case Source::sample: {
      const auto& sample = *collective.sample;
      return {all_reduce,
              fmt::format("{} of {:.1f} MB on {} ranks in {:.3g} ms", name_of(sample.kind),
                          sample.size.value() / 1e6, sample.ranks, sample.time.value() * 1e3),
              fmt::format(" ({})", sample.source)};
    }
    case Source::nominal:
      return {all_reduce, collective.rccl ? "RCCL's rings at the rates of their links, nothing measured"
                                          : "NCCL's nominal channel rates, nothing measured"};
    case Source::nvls:
      return {"NVLS all-reduce",
              fmt::format("NCCL's own estimate times {}, which 8 H100 reach", nvls_reached),
              fmt::format(" ({})", nvls_source)};
  }
  return {};
}

}  // namespace

void add(std::vector<CollectiveProvenance>& collectives, const std::vector<CollectiveProvenance>& additions) {
  for (const auto& collective : additions)
    if (std::ranges::find(collectives, collective) == collectives.end()) collectives.push_back(collective);
}

ProvenanceFact collectives_from(const CollectiveProvenance& collective, const Calibration& calibration) {
  auto fact = source_of(collective, calibration);
  if (!collective.is_floor) return fact;
  return {"not faster than one node", fmt::format("{}: {}", fact.subject, fact.statement),
          std::move(fact.remark)};
}

std::vector<Warning> table_extrapolations(const CollectiveProvenance& collective) {
  const auto& use = collective.use;
  const auto& table = *use.table;
  const auto subject = fmt::format("{} {}", name_of(collective.transport), name_of(collective.kind));
  std::vector<Warning> warnings;
  const auto warn = [&](Warning warning) { warnings.push_back(std::move(warning)); };
  if (!table.predicted_from.empty())
    warn(make_warning<"extrapolated-collectives/predicted-table", "collectives", "measured">(
        subject, table.predicted_from));
  if (use.other_operation)
    warn(make_warning<"extrapolated-collectives/other-operation", "collectives", "measured">(
        subject, name_of(table.kind)));
  if (use.other_plan) warn(make_warning<"extrapolated-collectives/other-plan", "collectives">(subject));
  if (use.other_channels)
    warn(make_warning<"extrapolated-collectives/other-channels", "collectives">(subject));
  if (use.other_ranks) warn(measured_on_other_ranks(collective, table.ranks));
  if (collective.nodes > 1)  // a calibration is of one node
    warn(make_warning<"extrapolated-collectives/more-nodes", "collectives", "nodes">(subject,
                                                                                     collective.nodes));
  if (const auto smallest = table.points.front().size; use.below_sizes && smallest > small)
    warn(make_warning<"extrapolated-collectives/below-sizes", "collectives", "size">(subject,
                                                                                     size_text(smallest)));
  if (use.beyond_sizes)
    warn(make_warning<"extrapolated-collectives/beyond-sizes", "collectives", "size">(
        subject, size_text(table.points.back().size)));
  return warnings;
}

std::vector<Warning> extrapolations_of(const CollectiveProvenance& collective) {
  using Source = CollectiveProvenance::Source;
  if (collective.is_floor) return {};
  if (collective.source == Source::table) return table_extrapolations(collective);
  if (collective.source == Source::sample && collective.basis == Basis::elsewhere)
    return {make_warning<"extrapolated-collectives/other-machine", "collectives", "machine">(
        all_collectives(collective), collective.sample->measured_on)};
  if (collective.source == Source::sample && collective.sample->ranks != collective.ranks)
    return {measured_on_other_ranks(collective, collective.sample->ranks)};
  const bool is_nvlink = collective.transport == Transport::p2p && collective.nvlink;
  if (collective.source == Source::nominal && !is_nvlink)
    return {make_warning<"extrapolated-collectives/not-measured", "collectives", "library">(
        all_collectives(collective), collective.rccl ? "RCCL" : "NCCL")};
  return {};
}

}  // namespace gradway
