// SPDX-License-Identifier: Apache-2.0
#include "sim/lower/collectives.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include <fmt/format.h>

#include "sim/base/contract.hpp"
#include "sim/base/problem.hpp"
#include "sim/cost/side_by_side.hpp"
#include "sim/lower/alone_time.hpp"
#include "sim/lower/describe_communicator.hpp"
#include "sim/lower/nvlink_rings.hpp"

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

struct CollectiveLowering::OneNode {
  explicit OneNode(Scenario of) : scenario{std::move(of)}, collectives{scenario} {}

  Scenario scenario;
  CollectiveLowering collectives;
};

CollectiveLowering::~CollectiveLowering() = default;

CollectiveLowering::CollectiveLowering(const Scenario& scenario)
    : scenario_{scenario}, routes_{scenario.platform}, settings_{nccl_settings(scenario.job.nccl)} {
  communicator_.ranks = scenario.job.gpus;
  if (communicator_.ranks == 1) return;
  rings_ = rings_of(communicator_.ranks);
  if (scenario.platform.collectives == CollectiveRules::ideal) {
    notes_.rests_on(Basis::given, "collectives: ideal rings over the platform's links");
    return;
  }
  communicator_ = describe_communicator(scenario_.platform, routes_, settings_, rings_, scenario.job.gpus);
  if (!choose_plan(CollectiveKind::all_reduce, 1_MiB, communicator_, settings_)) {
    throw ConfigError{{{},
                       "NCCL_ALGO and NCCL_PROTO leave no way to run an all-reduce",
                       {},
                       "LL128 needs NVLink between all GPUs of a node; allow Simple or LL"}};
  }
  find_calibration();
  measure_against_one_node();
}

void CollectiveLowering::measure_against_one_node() {
  const auto& calibration = scenario_.calibration;
  if (communicator_.nodes == 1 || (calibration.tables.empty() && calibration.collectives.empty())) return;
  const auto ranks =
      static_cast<int>(ranks_by_domain(scenario_.platform, communicator_.ranks).front().size());
  if (ranks == 1) return;
  auto one = scenario_;
  one.job.gpus = ranks;
  one_node_ = std::make_unique<OneNode>(std::move(one));
}

/// Each node does at least what it would do alone, at the rates that were measured there.
void CollectiveLowering::take_no_less_than_one_node(LoweredCollective& lowered, CollectiveKind kind,
                                                    Bytes size) const {
  const auto& one = one_node_->collectives;
  const auto least = time_alone(one.lower(kind, size), scenario_.platform);
  if (time_alone(lowered, scenario_.platform) >= least) return;
  take_time(lowered, least, scenario_.platform);
  for (const auto& text : one.basis())
    notes_.rests_on(one.weakest_basis(), "not faster than one node: " + text);
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

std::vector<std::vector<Hop>> CollectiveLowering::rings_of(int ranks) const {
  std::vector<std::vector<Hop>> rings;
  for (const auto& order : ring_orders(routes_, ranks)) {
    auto& ring = rings.emplace_back();
    for (std::size_t i = 0; i < order.size(); ++i) {
      ring.push_back(hop(order[i], order[(i + 1) % order.size()], rings.size() - 1));
    }
  }
  return rings;
}

/// Both directions of each edge.
std::vector<std::vector<Hop>> CollectiveLowering::lay(const std::vector<std::vector<Edge>>& trees) const {
  std::vector<std::vector<Hop>> laid;
  for (const auto& edges : trees) {
    const auto rail = laid.size() / 2;  // trees come in pairs, one a NIC
    auto& tree = laid.emplace_back();
    for (const auto& [child, parent] : edges) {
      tree.push_back(hop(child, parent, rail));
      tree.push_back(hop(parent, child, rail));
    }
  }
  return laid;
}

const std::vector<std::vector<Hop>>& CollectiveLowering::trees() const {
  if (!trees_.empty()) return trees_;
  trees_ = lay(tree_edges(routes_, communicator_.ranks));
  return trees_;
}

Transport CollectiveLowering::limiting_transport() const {
  return communicator_.nodes > 1 ? Transport::net : communicator_.transport;
}

const SideBySide* CollectiveLowering::side_by_side(const Footprint& kernel) const {
  if (communicator_.ranks == 1 || scenario_.platform.collectives == CollectiveRules::ideal) return nullptr;
  const auto beside = [&](Transport transport) {
    return measured_beside(scenario_.calibration.side_by_side, transport, communicator_.ranks, kernel,
                           communicator_channels());
  };
  if (const auto* measured = beside(limiting_transport())) return measured;
  // Between nodes, too, the multiprocessors copy as they do inside one.
  return communicator_.nodes > 1 ? beside(communicator_.transport) : nullptr;
}

int CollectiveLowering::communicator_channels() const {
  return choose(CollectiveKind::all_reduce, 256_MiB).channels;
}

/// The communicator of another number of ranks. Rings of a mesh of NVLinks depend on it; else the rates are
/// taken as those of this one.
Communicator CollectiveLowering::communicator_as_measured(int ranks) const {
  const auto node = ranks_by_domain(scenario_.platform, communicator_.ranks).front();
  const bool is_inside =
      communicator_.nodes == 1 && ranks <= static_cast<int>(scenario_.platform.gpus.size());
  if (!is_inside || !has_direct_nvlinks(routes_, node)) {
    auto same = communicator_;
    same.ranks = ranks;
    return same;
  }
  return describe_communicator(scenario_.platform, routes_, settings_, rings_of(ranks), ranks);
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
  const auto measured = communicator_as_measured(best->ranks);
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
  plan->algorithm_bandwidth =
      is_nvls(plan->algorithm) ? nvls_reach(communicator_) : plan->algorithm_bandwidth * calibrated_;
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

/// The bytes that NVSwitches reduce and multicast: each GPU sends them to its switch and gets them back.
std::vector<ResourceId> CollectiveLowering::through_nvswitches() const {
  std::vector<ResourceId> path;
  for (std::size_t rank = 0; rank < static_cast<std::size_t>(communicator_.ranks); ++rank) {
    const auto links = routes_.links_to_nvswitch(scenario_.platform.gpus[rank]);
    path.push_back(links->up->resource);
    path.push_back(links->down->resource);
  }
  return path;
}

std::vector<std::vector<ResourceId>> CollectiveLowering::ways(CollectiveKind kind,
                                                              const CollectivePlan& plan) const {
  std::vector<std::vector<ResourceId>> paths;
  switch (plan.algorithm) {
    case Algorithm::ring:
      for (const auto& ring : rings_) paths.push_back(all_hops(ring, hops_used(kind, ring)));
      break;
    case Algorithm::tree:
      for (const auto& tree : trees()) paths.push_back(all_hops(tree, tree.size()));
      break;
    case Algorithm::nvls:
      paths.push_back(through_nvswitches());
      break;
    case Algorithm::nvls_tree:
      for (const auto& tree : lay(tree_edges_between_nodes(routes_, communicator_.ranks))) {
        auto& path = paths.emplace_back(through_nvswitches());
        std::ranges::copy(all_hops(tree, tree.size()), std::back_inserter(path));
      }
      break;
  }
  return paths;
}

/// What the connections of a flow's channels carry over a hop between nodes.
double CollectiveLowering::most_of_streams(const CollectivePlan& plan, std::size_t flows) const {
  const auto& network = scenario_.platform.network;
  if (communicator_.nodes == 1 || !network || !network->stream_rate) {
    return std::numeric_limits<double>::infinity();
  }
  const bool is_told = settings_.socket_threads || settings_.sockets_a_thread;
  const auto streams = is_told ? settings_.socket_threads.value_or(1) * settings_.sockets_a_thread.value_or(1)
                               : network->streams;
  const auto channels = std::max(1.0, plan.channels / static_cast<double>(flows));
  return channels * streams * network->stream_rate->value();
}

LoweredCollective CollectiveLowering::lower(CollectiveKind kind, Bytes size) const {
  if (communicator_.ranks == 1) return {};
  if (scenario_.platform.collectives == CollectiveRules::ideal) return ideal(kind, size);
  const auto plan = choose(kind, size);
  LoweredCollective lowered{plan.latency, {}};
  if (size == 0_B) return lowered;
  auto paths = ways(kind, plan);
  const auto each = plan.algorithm == Algorithm::ring ? bus_factor(kind, communicator_.ranks) : 1.0;
  const auto factor = each / static_cast<double>(paths.size());
  const auto most = most_of_streams(plan, paths.size());
  for (auto& path : paths) {
    lowered.flows.push_back(
        {std::move(path), factor * size, std::min(most, factor * plan.algorithm_bandwidth.value())});
  }
  if (const auto time = table_time(kind, size, plan)) take_time(lowered, *time, scenario_.platform);
  if (one_node_) take_no_less_than_one_node(lowered, kind, size);
  return lowered;
}

}  // namespace gradway
