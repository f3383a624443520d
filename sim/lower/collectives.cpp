// SPDX-License-Identifier: Apache-2.0
#include "sim/lower/collectives.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "sim/base/contract.hpp"
#include "sim/base/problem.hpp"
#include "sim/cost/side_by_side.hpp"
#include "sim/lower/alone_time.hpp"
#include "sim/lower/describe_communicator.hpp"
#include "sim/lower/rank_order.hpp"

namespace gradway {
namespace {

/// Latency of `laps` times around the ring, less the hop that no chunk needs: a chunk starts behind the
/// shortest.
Seconds around(const std::vector<Hop>& ring, double laps) {
  Seconds sum{};
  auto least = Seconds::infinite();
  for (const auto& hop : ring) {
    sum += hop.latency;
    least = std::min(least, hop.latency);
  }
  return (sum - least) * laps;
}

std::vector<ResourceId> all_hops(const std::vector<Hop>& hops, std::size_t count) {
  std::vector<ResourceId> path;
  for (std::size_t i = 0; i < count; ++i) path.insert(path.end(), hops[i].path.begin(), hops[i].path.end());
  return path;
}

/// A broadcast goes once along the ring and does not close it.
std::size_t hops_used(CollectiveKind kind, const std::vector<Hop>& ring) {
  return kind == CollectiveKind::broadcast ? ring.size() - 1 : ring.size();
}

}  // namespace

CollectiveLowering::CollectiveLowering(const Scenario& scenario)
    : scenario_{scenario}, routes_{scenario.platform}, settings_{nccl_settings(scenario.job.nccl)} {
  communicator_.ranks = scenario.job.gpus;
  if (communicator_.ranks == 1) return;
  make_rings();
  if (scenario.platform.collectives == CollectiveRules::ideal) {
    notes_.rests_on(Basis::given, "collectives: ideal rings over the platform's links");
    return;
  }
  communicator_ = describe_communicator(scenario_.platform, routes_, rings_, scenario.job.gpus);
  if (!choose_plan(CollectiveKind::all_reduce, 1_MiB, communicator_, settings_)) {
    throw ConfigError{{{},
                       "NCCL_ALGO and NCCL_PROTO leave no way to run an all-reduce",
                       {},
                       "LL128 needs NVLink between all GPUs of a node; allow Simple or LL"}};
  }
  find_calibration();
}

Hop CollectiveLowering::hop(std::size_t from_rank, std::size_t to_rank, std::size_t rail) const {
  const auto& platform = scenario_.platform;
  const auto from = platform.gpus[from_rank];
  const auto to = platform.gpus[to_rank];
  if (auto hop = make_hop(routes_, platform, settings_, from, to, rail)) return *std::move(hop);
  throw ConfigError{
      {{},
       fmt::format("no transport from {} to {} on platform '{}'", platform.device(from).name,
                   platform.device(to).name, platform.name),
       {},
       "NCCL_P2P_DISABLE, NCCL_SHM_DISABLE or NCCL_P2P_LEVEL leave only NET, and the node has no NIC"}};
}

void CollectiveLowering::make_rings() {
  for (const auto& order : ring_orders(scenario_.platform, communicator_.ranks)) {
    auto& ring = rings_.emplace_back();
    for (std::size_t i = 0; i < order.size(); ++i) {
      ring.push_back(hop(order[i], order[(i + 1) % order.size()], rings_.size() - 1));
    }
  }
}

const std::vector<std::vector<Hop>>& CollectiveLowering::trees() const {
  if (!trees_.empty()) return trees_;
  for (const auto& edges : tree_edges(scenario_.platform, communicator_.ranks)) {
    const auto rail = trees_.size() / 2;  // trees come in pairs, one a NIC
    auto& tree = trees_.emplace_back();
    for (const auto& [child, parent] : edges) {
      tree.push_back(hop(child, parent, rail));
      tree.push_back(hop(parent, child, rail));
    }
  }
  return trees_;
}

Transport CollectiveLowering::limiting_transport() const {
  return communicator_.nodes > 1 ? Transport::net : communicator_.transport;
}

const SideBySide* CollectiveLowering::side_by_side(const Footprint& kernel) const {
  if (communicator_.ranks == 1 || scenario_.platform.collectives == CollectiveRules::ideal) return nullptr;
  return measured_beside(scenario_.calibration.side_by_side, limiting_transport(), communicator_.ranks,
                         kernel, communicator_channels());
}

int CollectiveLowering::communicator_channels() const {
  return choose(CollectiveKind::all_reduce, 256_MiB).channels;
}

void CollectiveLowering::find_calibration() {
  const auto transport = limiting_transport();
  tables_.emplace(scenario_.calibration, transport, communicator_, settings_);
  if (!tables_->empty()) return;
  const CollectiveSample* best = nullptr;
  const auto distance = [&](const CollectiveSample& sample) {
    return std::abs(sample.ranks - communicator_.ranks);
  };
  for (const auto& sample : scenario_.calibration.collectives) {
    if (sample.transport != transport) continue;
    if (!best || distance(sample) < distance(*best)) best = &sample;
  }
  if (!best) return rest_on_nominal_rates();
  auto measured = communicator_;
  measured.ranks = best->ranks;
  const auto plan = choose_plan(best->kind, best->size, measured, NcclSettings{});
  expects(plan.has_value(), "without settings NCCL always has a plan");
  if (best->time <= plan->latency) {
    throw ConfigError{
        {{},
         fmt::format("calibration '{}': {} of {:.4g} MB on {} ranks in {:.4g} us cannot be, its latency "
                     "alone is {:.4g} us",
                     scenario_.calibration.name, name_of(best->kind), best->size.value() / 1e6, best->ranks,
                     best->time.value() * 1e6, plan->latency.value() * 1e6),
         {},
         "check its 'time' and 'size'; a large buffer tells the rate best"}};
  }
  calibrated_ = (best->size / (best->time - plan->latency)) / plan->algorithm_bandwidth;
  notes_.rests_on(best->ranks == communicator_.ranks ? Basis::published : Basis::stretched,
                  fmt::format("{} all-reduce: {} of {:.1f} MB on {} ranks in {:.3g} ms ({})",
                              name_of(transport), name_of(best->kind), best->size.value() / 1e6, best->ranks,
                              best->time.value() * 1e3, best->source));
  if (best->ranks != communicator_.ranks) {
    notes_.warn(fmt::format("{} collectives were measured on {} ranks, not on {}", name_of(transport),
                            best->ranks, communicator_.ranks));
  }
}

void CollectiveLowering::rest_on_nominal_rates() const {
  const auto transport = limiting_transport();
  notes_.rests_on(Basis::nominal, fmt::format("{} all-reduce: NCCL's nominal channel rates, nothing measured",
                                              name_of(transport)));
  if (transport == Transport::p2p && communicator_.nvlink) return;
  notes_.warn(
      fmt::format("the rate of {} collectives on this platform was never measured: NCCL's nominal "
                  "rate is often too high",
                  name_of(transport)));
}

std::optional<Seconds> CollectiveLowering::table_time(CollectiveKind kind, Bytes size,
                                                      const CollectivePlan& plan) const {
  if (tables_->empty()) return std::nullopt;
  const auto found = tables_->time(kind, size, plan);
  if (!found) {
    rest_on_nominal_rates();
    return std::nullopt;
  }
  notes_.rests_on(found->use, {kind, limiting_transport(), communicator_.ranks, communicator_.nodes},
                  scenario_.calibration);
  return found->time;
}

CollectivePlan CollectiveLowering::choose(CollectiveKind kind, Bytes size) const {
  auto plan = choose_plan(kind, size, communicator_, settings_);
  if (!plan) {  // NCCL_ALGO=Tree leaves only all-reduce; NCCL then falls back to what exists
    plan = choose_plan(kind, size, communicator_, NcclSettings{});
  }
  plan->algorithm_bandwidth = plan->algorithm_bandwidth * calibrated_;
  return *plan;
}

LoweredCollective CollectiveLowering::ideal(CollectiveKind kind, Bytes size) const {
  const auto& ring = rings_.front();
  const auto factor = bus_factor(kind, communicator_.ranks);
  const double laps = kind == CollectiveKind::all_reduce ? 2 : 1;
  const auto latency = kind == CollectiveKind::send_recv ? ring.front().latency : around(ring, laps);
  return {latency,
          {{all_hops(ring, hops_used(kind, ring)), factor * size, std::numeric_limits<double>::infinity()}}};
}

LoweredCollective CollectiveLowering::lower(CollectiveKind kind, Bytes size) const {
  if (communicator_.ranks == 1) return {};
  if (scenario_.platform.collectives == CollectiveRules::ideal) return ideal(kind, size);
  const auto plan = choose(kind, size);
  LoweredCollective lowered{plan.latency, {}};
  if (size == 0_B) return lowered;
  const bool ring = plan.algorithm == Algorithm::ring;
  const auto& ways = ring ? rings_ : trees();
  const auto factor = (ring ? bus_factor(kind, communicator_.ranks) : 1.0) / static_cast<double>(ways.size());
  for (const auto& way : ways) {
    lowered.flows.push_back({all_hops(way, ring ? hops_used(kind, way) : way.size()), factor * size,
                             factor * plan.algorithm_bandwidth.value()});
  }
  if (const auto time = table_time(kind, size, plan)) take_time(lowered, *time, scenario_.platform);
  return lowered;
}

}  // namespace gradway
