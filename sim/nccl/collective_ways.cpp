// SPDX-License-Identifier: Apache-2.0
#include "sim/nccl/collective_ways.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "sim/base/problem.hpp"
#include "sim/nccl/net_hop.hpp"
#include "sim/nccl/nvlink_rings.hpp"

namespace gradway {
namespace {

/// A broadcast passes the ring once without closing it.
bool closes_ring(CollectiveKind kind) {
  return kind != CollectiveKind::broadcast && kind != CollectiveKind::send;
}

}  // namespace

CollectiveWays::CollectiveWays(const Routes& routes, const NcclSettings& settings, GpuNumbers gpus)
    : routes_{routes}, settings_{settings}, gpus_{std::move(gpus)} {
  if (gpus_.size() == 1) return;
  // @source github.com/ROCm/rccl at 0cbce2a7, src/graph/paths.cc: NCCL_PXN_DISABLE is 1 by default
  if (routes.platform().gpu_models.front().is_amd()) settings_.pxn_disable = true;
  keep_few_domains();
  members_ = gpus_;
  std::ranges::sort(members_);
  has_alike_nodes_ = takes_same_gpus_of_nodes();
  relays_ = may_relay(routes.platform(), settings_) &&
            has_direct_nvlinks(routes, gpus_by_domain(routes.platform(), gpus_).front());
  add_rings();
}

/// Interchangeable domains of which these are the same GPUs: keeps both ends of the rings and an odd and an
/// even domain between, since rings may alternate. Ideal rules choose among equal paths by the number of the
/// sender, which differs between domains.
void CollectiveWays::keep_few_domains() {
  constexpr std::size_t most_kept = 5;
  const auto& platform = routes_.platform();
  const auto domain_gpus = gpus_by_domain(platform, gpus_);
  kept_domains_ = domain_count_ = domain_gpus.size();
  const auto& alike = routes_.identical_domains();
  if (!alike.hold()) return;
  const auto first_gpu = [size = platform.gpus.size() / alike.count()](const GpuNumbers& gpus) {
    return gpus.front() / size * size;
  };
  std::vector<std::uint32_t> domains;
  bool takes_same = platform.collectives != CollectiveRules::ideal;
  for (const auto& gpus : domain_gpus) {
    domains.push_back(static_cast<std::uint32_t>(alike.domain_of(platform.gpus[gpus.front()])));
    const auto distance = first_gpu(gpus) - first_gpu(domain_gpus.front());  // wraps around below zero
    takes_same = takes_same && std::ranges::equal(gpus, domain_gpus.front(), {}, {},
                                                  [&](std::size_t gpu) { return gpu + distance; });
  }
  domains_ = std::make_shared<const std::vector<std::uint32_t>>(std::move(domains));
  if (!takes_same || domain_count_ <= most_kept) return;
  kept_domains_ = most_kept - (domain_count_ + 1) % 2;
  gpus_.clear();
  for (const auto& gpus : std::span{domain_gpus}.first(kept_domains_))
    std::ranges::copy(gpus, std::back_inserter(gpus_));
}

GpuNumbers CollectiveWays::gpus_of_first_two() const {
  const auto gpus = std::span{gpus_}.first(2 * gpus_.size() / kept_domains_);
  return {gpus.begin(), gpus.end()};
}

/// The kept domain that rings use as they do this one, of all.
std::size_t CollectiveWays::standing_for(std::size_t domain) const {
  if (!keeps_few() || domain == 0) return domain;
  return domain + 1 == domain_count_ ? kept_domains_ - 1 : 2 - domain % 2;
}

/// The parts of a path on each kept domain, as on the first domain of the platform.
std::vector<CollectiveWays::Resources> CollectiveWays::by_domain(const Resources& path) const {
  const auto& alike = routes_.identical_domains();
  std::map<std::size_t, std::size_t> places;
  for (std::size_t i = 0; i < kept_domains_; ++i) places.emplace((*domains_)[i], i);
  std::vector<Resources> parts(kept_domains_);
  for (const auto id : path) parts[places.at(alike.domain_of(id))].push_back(alike.on_domain(id, 0));
  return parts;
}

/// The path over all domains from that over those kept.
SharedPath CollectiveWays::over_domains(Resources path) const {
  if (!domains_) return path;
  std::vector<Resources> uses;
  std::vector<std::uint32_t> use_of_kept;
  std::map<Resources, std::uint32_t> known;
  for (auto& resources : by_domain(path)) {
    auto sorted = resources;
    std::ranges::sort(sorted);
    const auto [place, is_new] =
        known.try_emplace(std::move(sorted), static_cast<std::uint32_t>(uses.size()));
    if (is_new) uses.push_back(std::move(resources));
    use_of_kept.push_back(place->second);
  }
  auto& pattern = patterns_[use_of_kept];
  if (!pattern) {
    std::vector<std::uint32_t> use_of_domain;
    for (std::size_t i = 0; i < domain_count_; ++i) use_of_domain.push_back(use_of_kept[standing_for(i)]);
    pattern = std::make_shared<const std::vector<std::uint32_t>>(std::move(use_of_domain));
  }
  return {{routes_.identical_domains(), pattern, std::move(uses)}, domains_};
}

/// The path that uses all domains as this one uses the first.
SharedPath CollectiveWays::on_each_domain(const Resources& path) const {
  auto first = std::make_shared<const std::vector<std::uint32_t>>(domain_count_, 0);
  return {{routes_.identical_domains(), std::move(first), {by_domain(path).front()}}, domains_};
}

bool CollectiveWays::takes_same_gpus_of_nodes() const {
  const auto& platform = routes_.platform();
  const auto gpus_per_node =
      std::max<std::size_t>(1, platform.gpus.size() / static_cast<std::size_t>(platform.nodes));
  const auto of_first = [&](std::size_t gpu) {
    return gpu / gpus_per_node == members_.front() / gpus_per_node;
  };
  const auto count = static_cast<std::size_t>(std::ranges::count_if(members_, of_first));
  if (members_.size() % count != 0) return false;
  for (std::size_t i = 0; i < members_.size(); ++i) {
    const auto first_of_node = members_[i - i % count];
    if (members_[i] / gpus_per_node != first_of_node / gpus_per_node ||
        members_[i] % gpus_per_node != members_[i % count] % gpus_per_node)
      return false;
  }
  return true;
}

/// Whether rings cannot leave a node by the NIC of their entry, since no GPU forwards data to it, and leave
/// by another one instead. @source NCCL 2.28.9, src/graph/search.cc (ncclTopoCompute): NCCL tries crossNic 2
/// after all paths to the same NIC
bool CollectiveWays::alternates() const {
  const auto& platform = routes_.platform();
  const bool may = settings_.cross_nic == 2 && settings_.pxn_disable && rails_.size() % 2 == 0;
  return may && !platform.gpu_models.front().is_amd() && std::ranges::all_of(gpus_, [&](std::size_t gpu) {
           return routes_.links_to_nvswitch(platform.gpus[gpu]).has_value();
         });
}

void CollectiveWays::add_rings() {
  const auto& platform = routes_.platform();
  const auto domain = [&](std::size_t gpu) { return platform.nvlink_domain(platform.gpus[gpu]); };
  GpuNumbers first;
  std::ranges::copy_if(gpus_, std::back_inserter(first),
                       [&](std::size_t gpu) { return domain(gpu) == domain(gpus_.front()); });
  const bool has_several = first.size() < gpus_.size();
  if (has_several) rails_ = ring_rails(routes_, first);
  const bool alternate = has_several && alternates();
  orders_ = ring_orders(routes_, gpus_, relays_, alternate);
  while (rails_.size() < orders_.size()) rails_.push_back(rails_.size());
  for (std::size_t r = 0; r < orders_.size(); ++r) {
    const auto& order = orders_[r];
    auto& ring = rings_.emplace_back();
    ring.reserve(order.size());
    bool is_even = true;  // the number of the node among those of the ring
    for (std::size_t i = 0; i < order.size(); ++i) {
      const auto next = order[(i + 1) % order.size()];
      ring.add(hop({order[i], next, rails_[alternate && is_even ? r ^ 1 : r], settings_.cross_nic == 1}));
      if (alternate && domain(order[i]) != domain(next)) is_even = !is_even;
    }
  }
}

std::optional<std::size_t> CollectiveWays::relay(std::size_t from_gpu, std::size_t to_gpu) const {
  return relays_ ? nvlink_relay(routes_, gpus_, from_gpu, to_gpu) : std::nullopt;
}

int CollectiveWays::nvlinks(std::size_t from_gpu, std::size_t to_gpu) const {
  const auto links = [&](std::size_t a, std::size_t b) {
    return routes_.nvlinks(routes_.platform().gpus[a], routes_.platform().gpus[b]);
  };
  const auto between = relay(from_gpu, to_gpu);
  return between ? std::min(links(from_gpu, *between), links(*between, to_gpu)) : links(from_gpu, to_gpu);
}

/// Inside a node: the hop of the first node with the same devices, moved to this node.
Hop CollectiveWays::hop(const HopBetweenGpus& asked) const {
  const auto& platform = routes_.platform();
  const auto& size = platform.node_size;
  const auto from = platform.gpus[asked.from];
  const auto to = platform.gpus[asked.to];
  const auto node = platform.device(from).node;
  if (size.devices == 0 || !has_alike_nodes_ || node != platform.device(to).node) return find_hop(asked);
  const auto number = static_cast<std::size_t>(node);
  const Ends ends{from.index() - number * size.devices, to.index() - number * size.devices, asked.rail,
                  asked.leaves_by_own_nic};
  auto known = inside_.find(ends);
  if (known == inside_.end()) {
    auto new_hop = find_hop(asked);
    if (new_hop.relayed) return new_hop;  // other nodes may lack the relay
    const auto is_inside = [&](ResourceId id) { return id.index() / size.resources == number; };
    if (!std::ranges::all_of(new_hop.path, is_inside)) return new_hop;
    for (auto& id : new_hop.path) id = ResourceId{id.index() - number * size.resources};
    known = inside_.emplace(ends, std::move(new_hop)).first;
  }
  auto hop = known->second;
  for (auto& id : hop.path) id = ResourceId{id.index() + number * size.resources};
  return hop;
}

Hop CollectiveWays::find_hop(const HopBetweenGpus& asked) const {
  const auto& platform = routes_.platform();
  const auto from = platform.gpus[asked.from];
  const auto to = platform.gpus[asked.to];
  const auto between = relay(asked.from, asked.to);
  const auto relay_device = between ? std::optional{platform.gpus[*between]} : std::nullopt;
  const NetRules rules{settings_, &members_, asked.leaves_by_own_nic};
  if (auto hop = make_hop(routes_, platform, rules, from, to, asked.rail, relay_device))
    return *std::move(hop);
  if (choose_transport(routes_, platform, settings_, from, to) == Transport::net) {
    if (const auto nics = separate_nics(routes_, rules, from, to, asked.rail)) {
      refuse(fmt::format(
                 "no network path from {} to {} on platform '{}': no switch joins the rails of {} and {}",
                 platform.name_of(from), platform.name_of(to), platform.name, platform.name_of(nics->out),
                 platform.name_of(nics->in)),
             "NVLinks forward data to the right rail (PXN) unless NCCL_PXN_DISABLE is set, for GPUs that the "
             "group "
             "has on each node; without them set NCCL_CROSS_NIC to 0");
    }
  }
  refuse(fmt::format("no transport from {} to {} on platform '{}'", platform.name_of(from),
                     platform.name_of(to), platform.name),
         "NCCL_P2P_DISABLE, NCCL_SHM_DISABLE or NCCL_P2P_LEVEL leave only NET, and the node has no NIC");
}

/// The resources of edges of a tree, in both directions of each. There is a pair of trees for each NIC.
CollectiveWays::Resources CollectiveWays::hops_of(std::span<const Edge> edges, std::size_t tree) const {
  const auto rail = rails_[std::min(tree / 2, rails_.size() - 1)];
  Resources path;
  for (const auto& [child, parent] : edges) {
    for (const auto& ends : {HopBetweenGpus{child, parent, rail}, HopBetweenGpus{parent, child, rail}}) {
      const auto resources = hop(ends).path;
      path.insert(path.end(), resources.begin(), resources.end());
    }
  }
  return path;
}

/// Trees through the GPUs of each domain, or only between their NVSwitches. Of few domains that stand for
/// all, two show what a domain uses for an edge between domains and what inside.
std::vector<SharedPath> CollectiveWays::tree_paths(Algorithm algorithm) const {
  const bool is_nvls = algorithm == Algorithm::nvls_tree;
  const auto nvlinks = is_nvls ? through_nvswitches() : Resources{};
  const auto gpus = keeps_few() ? gpus_of_first_two() : gpus_;
  std::vector<SharedPath> paths;
  std::array<SharedPath::Numbers, 2> degrees;  // less one, of each domain in the trees of a pair
  if (keeps_few()) {
    auto of_trees = tree_degrees(domain_count_);
    for (std::size_t i = 0; i < degrees.size(); ++i) {
      for (auto& degree : of_trees[i]) --degree;
      degrees[i] = std::make_shared<const std::vector<std::uint32_t>>(std::move(of_trees[i]));
    }
  }
  for (const auto& tree :
       is_nvls ? tree_edges_between_nodes(routes_, gpus, relays_) : tree_edges(routes_, gpus, relays_)) {
    const auto number = paths.size();
    auto inside = nvlinks;
    const std::span edges{tree};
    const auto hops = hops_of(edges.subspan(keeps_few() ? 1 : 0), number);
    inside.insert(inside.end(), hops.begin(), hops.end());
    if (!keeps_few()) {
      paths.push_back(over_domains(std::move(inside)));
      continue;
    }
    const auto inside_one = by_domain(inside).front();
    const auto edge = by_domain(hops_of(edges.first(1), number)).front();
    std::vector<Resources> uses(1, edge);
    for (std::size_t degree = 1; degree < most_tree_degree; ++degree) {
      auto more = uses.back();
      more.insert(more.end(), edge.begin(), edge.end());
      uses.push_back(std::move(more));
    }
    for (auto& use : uses) use.insert(use.end(), inside_one.begin(), inside_one.end());
    paths.emplace_back(
        SharedPath::OverDomains{routes_.identical_domains(), degrees[number % 2], std::move(uses)}, domains_);
  }
  return paths;
}

/// The bytes that NVSwitches reduce and multicast: each GPU sends them to its switch and gets them back.
CollectiveWays::Resources CollectiveWays::through_nvswitches() const {
  Resources path;
  for (const auto gpu : gpus_) {
    const auto links = routes_.links_to_nvswitch(routes_.platform().gpus[gpu]);
    path.push_back(links->up->resource);
    path.push_back(links->down->resource);
  }
  return path;
}

/// Paths of data that switches between nodes reduce, one for each NIC, which sends its part once and receives
/// the sum. Inside a node: a chain to the GPU at the NIC and back, a reduction by NVSwitches, or, for CollNet
/// direct, a flow of its own (`nvswitches`). A hop to the next node stands for one up to the switch and one
/// down, which carry the same on every link.
std::vector<SharedPath> CollectiveWays::through_reducing_switches(Algorithm algorithm) const {
  const auto& platform = routes_.platform();
  const auto domain = [&](std::size_t gpu) { return platform.nvlink_domain(platform.gpus[gpu]); };
  const bool is_chain = algorithm == Algorithm::collnet_chain;
  std::vector<SharedPath> paths;
  for (const auto& order : orders_) {
    Resources path;
    if (algorithm == Algorithm::nvls) path = through_nvswitches();
    const auto take = [&](std::size_t from, std::size_t to) {
      const auto ring_hop = hop({from, to, rails_[paths.size()]});
      path.insert(path.end(), ring_hop.path.begin(), ring_hop.path.end());
    };
    std::vector<std::size_t> heads;  // by node: the GPU at which the ring enters
    for (std::size_t i = 0; i < order.size(); ++i) {
      const auto next = order[(i + 1) % order.size()];
      if (domain(order[i]) != domain(next)) {
        heads.push_back(next);
      } else if (is_chain) {
        take(order[i], next);
        take(next, order[i]);
      }
    }
    for (std::size_t i = 0; i < heads.size(); ++i) take(heads[i], heads[(i + 1) % heads.size()]);
    paths.push_back(over_domains(std::move(path)));
  }
  return paths;
}

const SharedPath& CollectiveWays::nvswitches() const {
  if (!nvswitches_) nvswitches_.emplace(over_domains(through_nvswitches()));
  return *nvswitches_;
}

const std::vector<SharedPath>& CollectiveWays::paths(CollectiveKind kind, Algorithm algorithm) const {
  const bool closes = algorithm != Algorithm::ring || closes_ring(kind);
  const auto [place, is_new] = paths_.try_emplace({algorithm, closes});
  if (is_new) place->second = find_paths(algorithm, closes);
  return place->second;
}

std::vector<SharedPath> CollectiveWays::find_paths(Algorithm algorithm, bool closes) const {
  std::vector<SharedPath> paths;
  switch (algorithm) {
    case Algorithm::ring:
      for (const auto& ring : rings_)
        paths.push_back(over_domains(closes ? ring.path() : ring.path_without_last()));
      break;
    case Algorithm::tree:
    case Algorithm::nvls_tree:
      return tree_paths(algorithm);
    case Algorithm::nvls:
      if (domain_count_ > 1) return through_reducing_switches(algorithm);
      paths.push_back(over_domains(through_nvswitches()));
      break;
    case Algorithm::collnet_direct:
    case Algorithm::collnet_chain:
      return through_reducing_switches(algorithm);
  }
  return paths;
}

}  // namespace gradway
