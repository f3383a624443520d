// SPDX-License-Identifier: Apache-2.0
#include "sim/nccl/collective_provenance.hpp"

#include <algorithm>
#include <utility>

namespace gradway {
namespace {

constexpr auto small = 64_KiB;  // below it latency is nearly all there is

provenance::CollectiveTimes times_from(const CollectiveProvenance& collective,
                                       const Calibration& calibration) {
  const auto& use = collective.use;
  const auto& table = *use.table;
  provenance::CollectiveTimes times{.kind = table.kind,
                                    .algorithm = table.algorithm,
                                    .protocol = table.protocol,
                                    .calibration = calibration.name,
                                    .date = calibration.date,
                                    .ranks = collective.ranks,
                                    .smallest = table.points.front().size,
                                    .largest = table.points.back().size,
                                    .predicted_from = table.predicted_from,
                                    .residual = table.residual,
                                    .interpolation = table.interpolation,
                                    .adapted = collective.adapted};
  if (use.upper != nullptr || use.other_ranks) times.measured_ranks.push_back(table.ranks);
  if (use.upper != nullptr) times.measured_ranks.push_back(use.upper->ranks);
  return times;
}

}  // namespace

void add(std::vector<CollectiveProvenance>& collectives, const std::vector<CollectiveProvenance>& additions) {
  for (const auto& collective : additions)
    if (std::ranges::find(collectives, collective) == collectives.end()) collectives.push_back(collective);
}

provenance::Collectives collectives_from(const CollectiveProvenance& collective,
                                         const Calibration& calibration) {
  using Source = CollectiveProvenance::Source;
  provenance::Collectives result{.transport = collective.transport, .is_floor = collective.is_floor};
  switch (collective.source) {
    case Source::ideal:
      result.transport = Transport::none;
      result.from = provenance::IdealRings{};
      break;
    case Source::table:
      result.transport = collective.use.table->transport;
      result.from = times_from(collective, calibration);
      break;
    case Source::sample:
      result.from = *collective.sample;
      break;
    case Source::nominal:
      result.from = provenance::NominalRates{collective.rccl};
      break;
    case Source::nvls:
      result.transport = Transport::none;
      result.from = provenance::NvlsEstimate{};
      break;
  }
  return result;
}

std::vector<warning::ExtrapolatedCollectives> table_extrapolations(const CollectiveProvenance& collective) {
  const auto& use = collective.use;
  const auto& table = *use.table;
  std::vector<warning::ExtrapolatedCollectives> extrapolations;
  const auto add = [&](extrapolation::Reason reason) {
    extrapolations.push_back({collective.transport, collective.kind, std::move(reason)});
  };
  if (!table.predicted_from.empty()) add(extrapolation::PredictedTable{table.predicted_from});
  if (use.other_operation) add(extrapolation::OtherOperation{table.kind});
  if (use.other_plan) add(extrapolation::OtherPlan{});
  if (use.other_channels) add(extrapolation::OtherChannels{});
  if (use.other_ranks)
    extrapolations.push_back(
        {collective.transport, std::nullopt, extrapolation::OtherRanks{table.ranks, collective.ranks}});
  if (collective.nodes > 1) add(extrapolation::MoreNodes{collective.nodes});  // a calibration is of one node
  if (use.below_sizes && table.points.front().size > small)
    add(extrapolation::BelowSizes{table.points.front().size});
  if (use.beyond_sizes) add(extrapolation::BeyondSizes{table.points.back().size});
  return extrapolations;
}

std::vector<warning::ExtrapolatedCollectives> extrapolations_of(const CollectiveProvenance& collective) {
  using Source = CollectiveProvenance::Source;
  if (collective.is_floor) return {};
  if (collective.source == Source::table) return table_extrapolations(collective);
  const auto for_all = [&](extrapolation::Reason reason) {
    return std::vector<warning::ExtrapolatedCollectives>{
        {collective.transport, std::nullopt, std::move(reason)}};
  };
  if (collective.source == Source::sample && collective.sample->ranks != collective.ranks)
    return for_all(extrapolation::OtherRanks{collective.sample->ranks, collective.ranks});
  const bool is_nvlink = collective.transport == Transport::p2p && collective.nvlink;
  if (collective.source == Source::nominal && !is_nvlink)
    return for_all(extrapolation::NotMeasured{collective.rccl});
  return {};
}

}  // namespace gradway
