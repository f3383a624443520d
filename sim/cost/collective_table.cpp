// SPDX-License-Identifier: Apache-2.0
#include "sim/cost/collective_table.hpp"

#include <algorithm>
#include <limits>

#include "sim/base/contract.hpp"
#include "sim/cost/channel_rate.hpp"

namespace gradway {
namespace {

bool forces_plan(const NcclSettings& settings) {
  return !settings.algo.empty() || !settings.proto.empty();
}

/// Time of a size without the latency, per unit of the bus factor: the size over the bus bandwidth.
Seconds transfer_time(const CollectiveTable& table, Bytes size) {
  const auto moving = std::max(Seconds{}, time_at(table, size) - table.latency);
  return moving / bus_factor(table.kind, table.ranks);
}

/// Interpolates linearly between rates. @return 0 if either time is 0, which means that latency dominates
Seconds between(Seconds low, Seconds high, double share_of_high) {
  if (low == Seconds{} || high == Seconds{}) return Seconds{};
  return Seconds{1 / ((1 - share_of_high) / low.value() + share_of_high / high.value())};
}

/// The smallest size that all tables have.
Bytes smallest(const std::vector<const CollectiveTable*>& tables) {
  Bytes least{};
  for (const auto* table : tables) least = std::max(least, table->points.front().size);
  return least;
}

}  // namespace

Seconds time_at(const CollectiveTable& table, Bytes size) {
  const auto& points = table.points;
  expects(!points.empty(), "a table must have a point");
  const auto above = std::ranges::lower_bound(points, size, {}, &SizedTime::size);
  if (above == points.begin() || (above != points.end() && above->size == size)) return above->time;
  const auto below = above - 1;
  if (above == points.end()) return below->time * (size / below->size);
  const auto share = (size - below->size) / (above->size - below->size);
  return below->time + (above->time - below->time) * share;
}

CollectiveTables::CollectiveTables(const Calibration& calibration, Transport transport,
                                   const CommunicatorFacts& communicator, const NcclSettings& settings)
    : communicator_{communicator}, settings_{settings} {
  for (const auto& table : calibration.tables) {
    if (table.transport == transport) tables_.push_back(&table);
  }
  // TCP within a node differs from the network between nodes.
  const auto is_other = [&](const CollectiveTable* table) {
    return (table->nodes > 1) != (communicator.nodes > 1);
  };
  if (!std::ranges::all_of(tables_, is_other)) std::erase_if(tables_, is_other);
  std::ranges::stable_sort(tables_, {}, &CollectiveTable::ranks);
}

CollectiveTables::Family CollectiveTables::family(CollectiveKind kind, std::optional<Algorithm> algorithm,
                                                  std::optional<Protocol> protocol) const {
  Family tables;
  for (const auto* table : tables_) {
    if (table->kind == kind && table->algorithm == algorithm && table->protocol == protocol)
      tables.push_back(table);
  }
  return tables;
}

std::optional<TableTime> CollectiveTables::time(CollectiveKind kind, Bytes size,
                                                const CollectivePlan& limited_plan) const {
  if (kind == CollectiveKind::all_to_all && family(kind, {}, {}).empty()) {
    // Each rank sends as many bytes as in a send/recv of this size.
    auto table_time =
        time(CollectiveKind::send_recv, size * bus_factor(kind, communicator_.ranks), limited_plan);
    if (table_time) table_time->use.other_operation = true;
    return table_time;
  }
  const auto plan = with_all_channels(limited_plan, kind, size, communicator_, settings_);
  const bool is_default = !forces_plan(settings_) || is_default_choice(kind, size, plan);
  for (const auto measured : {kind, CollectiveKind::all_reduce}) {
    const auto own_tables = family(measured, plan.algorithm, plan.protocol);
    const auto chosen = family(measured, {}, {});
    const bool takes_own = !own_tables.empty() && (chosen.empty() || !is_default);
    const auto& tables = takes_own ? own_tables : chosen;
    if (tables.empty()) continue;
    const auto least = smallest(tables);
    auto table_time = at_ranks(tables, kind, std::max(size, least), plan);
    if (size < least) table_time = below(table_time, kind, size, least);
    table_time.use.other_operation = measured != kind;
    table_time.use.other_plan = !takes_own && !is_default;
    if (table_time.use.other_plan) table_time.time = table_time.time * forced_plan_ratio(kind, size, plan);
    table_time.use.other_channels = settings_.has_channel_limits();
    if (table_time.use.other_channels)
      table_time.time = with_channels(table_time.time, kind, size, plan, limited_plan.channels);
    return table_time;
  }
  return std::nullopt;
}

Seconds CollectiveTables::with_channels(Seconds time, CollectiveKind kind, Bytes size,
                                        const CollectivePlan& plan, int channels) const {
  const auto moving = time - std::min(time, plan.latency);
  if (moving == Seconds{} || is_nvls(plan.algorithm)) return time;
  const auto bus = size * bus_factor(kind, communicator_.ranks) / moving;
  const auto per_channel =
      channel_rate(communicator_.nvlink && communicator_.nodes == 1, plan.algorithm, plan.protocol);
  return time - moving + moving / share_of_channels(channels, plan.channels, bus, per_channel);
}

/// Scales a time below the smallest measured size by NCCL's own estimates.
TableTime CollectiveTables::below(TableTime table_time, CollectiveKind kind, Bytes size, Bytes least) const {
  const auto estimate = [&](Bytes bytes) {
    const auto plan = choose_plan(kind, bytes, communicator_, NcclSettings{});
    expects(plan.has_value(), "NCCL must have a plan for default settings");
    return plan->estimate(bytes);
  };
  table_time.time = table_time.time * std::min(1.0, estimate(size) / estimate(least));
  table_time.use.below_sizes = true;
  return table_time;
}

TableTime CollectiveTables::at_ranks(const Family& family, CollectiveKind kind, Bytes size,
                                     const CollectivePlan& plan) const {
  const auto ranks = communicator_.ranks;
  const auto upper = std::ranges::lower_bound(family, ranks, {}, &CollectiveTable::ranks);
  const bool is_inner = upper != family.begin() && upper != family.end();
  const auto& table = upper == family.end() ? *family.back() : **upper;
  TableTime table_time;
  table_time.use.table = &table;
  table_time.use.beyond_sizes = size > table.points.back().size;
  if (table.ranks == ranks && table.kind == kind) {
    table_time.time = time_at(table, size);
    return table_time;
  }
  auto latency = table.latency;
  auto pass = transfer_time(table, size);
  if (table.ranks != ranks && is_inner) {
    const auto& lower = **(upper - 1);
    const auto share = static_cast<double>(ranks - lower.ranks) / (table.ranks - lower.ranks);
    latency = lower.latency + (table.latency - lower.latency) * share;
    pass = between(transfer_time(lower, size), pass, share);
    table_time.use.table = &lower;
    table_time.use.upper = &table;
    table_time.use.beyond_sizes = table_time.use.beyond_sizes || size > lower.points.back().size;
  } else if (table.ranks != ranks) {
    latency += additional_steps(kind, size, plan, table.ranks);
    table_time.use.other_ranks = true;
  }
  // On a full mesh each rank has a link to every other one, so that the bus bandwidth grows with the ranks.
  if (table_time.use.other_ranks && communicator_.mesh_links > 0)
    pass = pass * (static_cast<double>(table.ranks - 1) / communicator_.mesh_links);
  table_time.time = latency + pass * bus_factor(kind, ranks);
  return table_time;
}

bool CollectiveTables::is_default_choice(CollectiveKind kind, Bytes size, const CollectivePlan& plan) const {
  const auto chosen = choose_plan(kind, size, communicator_, NcclSettings{});
  return chosen && chosen->algorithm == plan.algorithm && chosen->protocol == plan.protocol;
}

Seconds CollectiveTables::additional_steps(CollectiveKind kind, Bytes size, const CollectivePlan& plan,
                                           int measured_ranks) const {
  auto measured = communicator_;
  measured.ranks = measured_ranks;
  measured.nodes = std::min(measured.nodes, measured_ranks);
  for (const auto& candidate : candidate_plans(kind, size, measured, NcclSettings{})) {
    if (candidate.algorithm == plan.algorithm && candidate.protocol == plan.protocol)
      return std::max(Seconds{}, plan.latency - candidate.latency);
  }
  return Seconds{};
}

double CollectiveTables::forced_plan_ratio(CollectiveKind kind, Bytes size,
                                           const CollectivePlan& plan) const {
  auto reference = Seconds::infinite();
  for (const auto& candidate : candidate_plans(kind, size, communicator_, NcclSettings{}))
    reference = std::min(reference, candidate.estimate(size));
  expects(reference < Seconds::infinite(), "NCCL must have a plan for default settings");
  return plan.estimate(size) / reference;
}

}  // namespace gradway
