// SPDX-License-Identifier: Apache-2.0
#include "observe/nccl_log/check_nccl_log.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "sim/config/read/nccl_variables.hpp"
#include "sim/files/text_file.hpp"
#include "sim/nccl/alone_time.hpp"
#include "sim/nccl/communicator.hpp"
#include "sim/platform/with_network.hpp"

namespace gradway {
namespace {

using Variables = std::map<std::string, std::string>;

/// Rates that NCCL prints differ from those of the platform by rounding, and for PCIe by encoding overhead.
constexpr double least_share_of_expected = 0.75;

/// As printed, or those of a platform that its ranks fill.
int nodes_of(const NcclLogCommunicator& communicator, int gpus_per_node) {
  return communicator.nodes.value_or((communicator.ranks + gpus_per_node - 1) / gpus_per_node);
}

/// Ranks by node: by the names of their hosts if there are as many names as nodes, else in order.
std::vector<std::vector<std::size_t>> ranks_by_node(const NcclLogCommunicator& communicator,
                                                    std::size_t nodes) {
  const auto ranks = static_cast<std::size_t>(communicator.ranks);
  std::map<std::string_view, std::size_t> hosts;
  std::vector<std::vector<std::size_t>> by_host;
  for (const auto& [rank, process] : communicator.seen) {
    const auto [host, is_new] = hosts.emplace(process.host, by_host.size());
    if (is_new) by_host.emplace_back();
    by_host[host->second].push_back(static_cast<std::size_t>(rank));
  }
  if (communicator.seen.size() == ranks && by_host.size() == nodes) return by_host;
  std::vector<std::vector<std::size_t>> in_order(nodes);
  for (std::size_t rank = 0; rank < ranks; ++rank) in_order[rank * nodes / ranks].push_back(rank);
  return in_order;
}

/// The GPU of each rank: the k-th GPU of its node, by the number that the process printed, else in order.
/// @throws ConfigError if the platform has too few nodes, or its nodes too few GPUs
GpuNumbers place_ranks(const NcclLogCommunicator& communicator, const Platform& platform) {
  const auto refuse_few = [&](const std::string& needed, std::string_view prefix, std::size_t count,
                              std::string_view unit) {
    refuse_at({"--platform", 0, 0, 0, {}},
              fmt::format("the log has {}, but {}'{}' has {} {}{}", needed, prefix, platform.name, count,
                          unit, count == 1 ? "" : "s"),
              "choose the platform that the job ran on: gradway list platforms");
  };
  const auto gpus_per_node = platform.gpus.size() / static_cast<std::size_t>(platform.nodes);
  const auto nodes = nodes_of(communicator, static_cast<int>(gpus_per_node));
  if (nodes > platform.nodes && communicator.nodes)
    refuse_few(fmt::format("{} nodes", nodes), "", static_cast<std::size_t>(platform.nodes), "node");
  if (nodes > platform.nodes)
    refuse_few(fmt::format("{} ranks", communicator.ranks), "", platform.gpus.size(), "GPU");
  const auto by_node = ranks_by_node(communicator, static_cast<std::size_t>(nodes));
  GpuNumbers gpus(static_cast<std::size_t>(communicator.ranks));
  for (std::size_t node = 0; node < by_node.size(); ++node) {
    const auto& members = by_node[node];
    if (members.size() > gpus_per_node)
      refuse_few(fmt::format("{} ranks on a node", members.size()), "a node of ", gpus_per_node, "GPU");
    std::map<std::size_t, std::size_t> by_number;
    for (std::size_t i = 0; i < members.size(); ++i) {
      gpus[members[i]] = node * gpus_per_node + i;
      const auto seen = communicator.seen.find(static_cast<int>(members[i]));
      if (seen != communicator.seen.end() && seen->second.gpu)
        by_number.emplace(static_cast<std::size_t>(*seen->second.gpu), members[i]);
    }
    if (by_number.size() != members.size() || by_number.lower_bound(gpus_per_node) != by_number.end())
      continue;
    for (const auto& [number, rank] : by_number) gpus[rank] = node * gpus_per_node + number;
  }
  return gpus;
}

class Checker {
 public:
  Checker(const NcclLog& log, const NcclLogCommunicator& communicator, const Platform& platform,
          const Calibration& calibration)
      : log_{log},
        communicator_{communicator},
        platform_{platform},
        calibration_{calibration},
        routes_{platform},
        variables_{config::modelled_variables(log.variables)},
        gpus_{place_ranks(communicator, platform)} {}

  CheckedCommunicator check() {
    CheckedCommunicator checked;
    check_transports(NcclAspect::inside_nodes, true);
    check_transports(NcclAspect::between_nodes, false);
    check_network();
    check_gpudirect();
    check_nvls();
    check_channels();
    check_topology();
    std::ranges::stable_partition(comparisons_,
                                  [](const auto& comparison) { return !comparison.follows_from; });
    if (std::ranges::any_of(comparisons_, [](const auto& comparison) { return !comparison.agrees; }))
      add_effect(checked);
    checked.comparisons = std::move(comparisons_);
    return checked;
  }

 private:
  struct Pair {
    int from;
    int to;
    auto operator<=>(const Pair&) const = default;
  };

  DeviceId device(int rank) const { return platform_.gpus[gpus_[static_cast<std::size_t>(rank)]]; }
  bool is_inside(const NcclConnection& connection) const {
    return platform_.nvlink_domain(device(connection.from)) == platform_.nvlink_domain(device(connection.to));
  }
  Transport expected(const Pair& pair, const NcclSettings& settings) const {
    return choose_transport(routes_, platform_, settings, device(pair.from), device(pair.to));
  }

  /// The modelled variables of the log without which the expectation is not what was found.
  std::vector<std::string> causes(const std::function<bool(const NcclSettings&)>& explains) const {
    if (variables_.empty() || !explains(nccl_settings(variables_))) return {};
    std::vector<std::string> needed;
    for (const auto& [name, value] : variables_) {
      auto remaining = variables_;
      remaining.erase(name);
      if (!explains(nccl_settings(remaining)))
        needed.push_back(fmt::format("{}={}", name, log_.variables.at(name)));
    }
    return needed;
  }

  /// The variables that change an expectation, but not to what was found.
  std::vector<std::string> part_causes(const Pair& pair) const {
    std::vector<std::string> changing;
    for (const auto& [name, value] : variables_) {
      if (expected(pair, nccl_settings({{name, value}})) != expected(pair, {}))
        changing.push_back(fmt::format("{}={}", name, log_.variables.at(name)));
    }
    return changing;
  }

  /// Adds a variable that gradway does not model if its value has the effect that was found.
  void add_cause_if(NcclComparison& comparison, std::string_view name, std::string_view value) const {
    const auto set = log_.variables.find(std::string{name});
    if (set != log_.variables.end() && set->second == value)
      comparison.causes.push_back(fmt::format("{}={}", set->first, set->second));
  }

  void add_evidence(NcclComparison& comparison, NcclRemark remark) const {
    if (log_.remarks.contains(remark)) comparison.evidence.push_back(remark);
  }

  void check_transports(NcclAspect aspect, bool inside) {
    std::map<Pair, Transport> transports;
    for (const auto& [connection, channels] : communicator_.ways) {
      if (connection.transport == Transport::none || connection.from == connection.to) continue;
      if (is_inside(connection) == inside)
        transports[{connection.from, connection.to}] = connection.transport;
    }
    if (transports.empty()) return;
    NcclComparison comparison{aspect, {}, {}, true, static_cast<int>(transports.size())};
    std::optional<std::pair<Pair, Transport>> different;
    for (const auto& [pair, transport] : transports) {
      const auto wanted = expected(pair, {});
      if (wanted != transport) {
        ++comparison.differing;
        if (!different) different = {pair, transport};
      }
      if (!different || comparison.expected.empty() || different->first == pair) {
        comparison.expected = name_of(wanted);
        comparison.found = name_of(transport);
      }
    }
    if (different) {
      comparison.agrees = false;
      comparison.example = {different->first.from, different->first.to};
      comparison.causes = causes(
          [&](const auto& settings) { return expected(different->first, settings) == different->second; });
      if (comparison.causes.empty()) comparison.causes = part_causes(different->first);
      if (inside) add_evidence(comparison, NcclRemark::p2p_not_enabled);
      if (inside) is_slower_inside_ = different->second;
    }
    comparisons_.push_back(std::move(comparison));
  }

  /// NCCL's name of the network of a platform. @source aws-ofi-nccl: "AWS Libfabric"; GPUDirect-TCPX: its
  /// plug-ins "GPUDirectTCPX_v7" and "FasTrak"
  static std::vector<std::string_view> network_names(NetworkKind kind) {
    switch (kind) {
      case NetworkKind::infiniband:
      case NetworkKind::roce:
        return {"IB", "IBext", "GIN", "gIB"};
      case NetworkKind::efa:
        return {"AWS Libfabric", "Libfabric", "OFI"};
      case NetworkKind::omni_path:
        return {"IB", "PSM2", "OFI"};
      case NetworkKind::tcp:
        return {"Socket"};
      case NetworkKind::tcpx:
        return {"GPUDirectTCPX"};
      case NetworkKind::tcpxo:
        return {"FasTrak"};
      case NetworkKind::wire:
        return {};
    }
    return {};
  }

  /// The networks of this communicator's connections, without repetition.
  std::set<std::string> networks() const {
    std::set<std::string> names;
    for (const auto& [connection, channels] : communicator_.ways) {
      if (!connection.network.empty() && !is_inside(connection)) names.insert(connection.network);
    }
    return names;
  }

  void check_network() {
    const auto logged = networks();
    if (logged.empty() || !platform_.network) return;
    const auto names = network_names(platform_.network->kind);
    if (names.empty()) return;
    const auto& name = *logged.begin();
    NcclComparison comparison{NcclAspect::network, std::string{names.front()}, name};
    comparison.agrees = std::ranges::any_of(names, [&](auto known) { return name.starts_with(known); });
    if (!comparison.agrees) {
      add_cause_if(comparison, "NCCL_IB_DISABLE", "1");
      add_cause_if(comparison, "NCCL_NET", name);
      add_cause_if(comparison, "NCCL_NET_PLUGIN", "none");
      add_evidence(comparison, NcclRemark::no_infiniband_device);
      add_evidence(comparison, NcclRemark::no_network_plugin);
      network_problem_ = NcclAspect::network;
    }
    comparisons_.push_back(std::move(comparison));
    if (!network_problem_) check_nics();
  }

  /// Each NIC of a node, by the name of its port; nodes of a job have equal names.
  void check_nics() {
    const auto is_of_first_node = [&](const Device& device) {
      return device.kind == DeviceKind::nic && device.node <= 0;
    };
    const auto expected = std::ranges::count_if(platform_.devices, is_of_first_node);
    const auto logged = std::ssize(log_.nics);
    if (logged == 0 || expected == 0) return;
    NcclComparison comparison{NcclAspect::nics, fmt::format("{}", expected), fmt::format("{}", logged),
                              logged >= expected};
    if (!comparison.agrees) {
      const auto chosen = log_.variables.find("NCCL_IB_HCA");
      if (chosen != log_.variables.end())
        comparison.causes.push_back(fmt::format("{}={}", chosen->first, chosen->second));
      network_problem_ = NcclAspect::nics;
    }
    comparisons_.push_back(std::move(comparison));
  }

  /// Whether the receiver of any connection over the network is written directly.
  bool is_direct(const NcclSettings& settings, const NcclConnection& connection) const {
    const auto level = settings.net_gdr_level.value_or(PathType::pxb);
    const auto nics = routes_.nearest(device(connection.to), DeviceKind::nic);
    return platform_.network->gpudirect && !nics.empty() &&
           routes_.path_type(nics.front(), device(connection.to)) <= level;
  }

  void check_gpudirect() {
    if (!platform_.network) return;
    int pairs = 0;
    int direct = 0;
    const NcclConnection* example = nullptr;
    for (const auto& [connection, channels] : communicator_.ways) {
      if (connection.transport != Transport::net || is_inside(connection)) continue;
      ++pairs;
      direct += connection.gpudirect ? 1 : 0;
      if (example == nullptr || !connection.gpudirect) example = &connection;
    }
    if (pairs == 0) return;
    const bool expected = is_direct({}, *example);
    NcclComparison comparison{NcclAspect::gpudirect, expected ? "yes" : "no", direct > 0 ? "yes" : "no",
                              (direct > 0) == expected, pairs};
    if (!comparison.agrees) {
      comparison.differing = expected ? pairs - direct : direct;
      comparison.example = {example->from, example->to};
      comparison.causes =
          causes([&](const auto& settings) { return is_direct(settings, *example) == (direct > 0); });
      add_evidence(comparison, NcclRemark::gpudirect_disabled);
      if (expected) add_cause_if(comparison, "NCCL_IB_CUDA_SUPPORT", "0");
      if (expected) add_cause_if(comparison, "NCCL_DMABUF_ENABLE", "0");
      has_gpudirect_ = direct > 0;
      // Without the expected network there is nothing that could write into GPUs.
      if (expected && network_problem_ == NcclAspect::network) comparison.follows_from = network_problem_;
      comparison.gpudirect_by =
          platform_.gpu_models.front().is_amd() ? GpudirectBy::amd_driver
          : platform_.network->kind == NetworkKind::infiniband || platform_.network->kind == NetworkKind::roce
              ? GpudirectBy::nvidia_driver
              : GpudirectBy::network_plugin;
    }
    comparisons_.push_back(std::move(comparison));
  }

  void check_nvls() {
    if (!communicator_.nvls_channels) return;
    const auto has_nvls = [&](const NcclSettings& settings) {
      return Communicator{routes_, settings, calibration_, gpus_}.facts().nvls;
    };
    const bool logged = *communicator_.nvls_channels > 0;
    // @source NCCL 2.28.9, src/transport/nvls.cc (ncclNvlsInit): at least three GPUs
    const bool expected = communicator_.ranks > 2 && has_nvls({});
    NcclComparison comparison{NcclAspect::nvls, expected ? "yes" : "no", logged ? "yes" : "no",
                              logged == expected};
    if (!comparison.agrees) {
      comparison.causes = causes([&](const auto& settings) { return has_nvls(settings) == logged; });
      lacks_nvls_ = expected;
    }
    comparisons_.push_back(std::move(comparison));
  }

  /// NCCL's choices under the variables of the log, and under the transports that were found.
  NcclSettings as_found() const {
    auto settings = nccl_settings(variables_);
    if (is_slower_inside_) {
      settings.p2p_disable = true;
      settings.shm_disable = *is_slower_inside_ == Transport::net;
    }
    if (has_gpudirect_ && !*has_gpudirect_) settings.net_gdr_level = PathType::self;
    if (lacks_nvls_) settings.nvls = false;
    return settings;
  }

  void check_channels() {
    if (!communicator_.collective_channels) return;
    const Communicator as_expected{routes_, as_found(), calibration_, gpus_};
    const auto expected = search_channels(as_expected.facts(), {}).count;
    const auto logged = *communicator_.collective_channels;
    NcclComparison comparison{NcclAspect::channels, fmt::format("{}", expected), fmt::format("{}", logged),
                              2 * logged > expected};
    if (!comparison.agrees) {
      comparison.causes = causes(
          [&](const auto& settings) { return settings.max_channels && *settings.max_channels <= logged; });
      if (comparison.causes.empty()) comparison.follows_from = network_problem_;
      found_channels_ = logged;
    }
    comparisons_.push_back(std::move(comparison));
  }

  /// The topology that NCCL detected: NVLinks and PCIe links of the slowest GPU.
  void check_topology() {
    if (log_.topology.empty()) return;
    NcclTopologyGpu slowest = log_.topology.begin()->second;
    for (const auto& [name, gpu] : log_.topology) {
      slowest.pcie = std::min(slowest.pcie, gpu.pcie);
      slowest.nvlink = std::min(slowest.nvlink, gpu.nvlink);
    }
    const auto compare = [&](NcclAspect aspect, double expected, double logged) {
      if (expected == 0) return;
      comparisons_.push_back({aspect, fmt::format("{:.4g} GB/s", expected),
                              fmt::format("{:.4g} GB/s", logged),
                              logged >= least_share_of_expected * expected});
    };
    const auto gpu = device(0);
    double links = 0;
    double pcie = 0;
    for (const auto& link : platform_.links) {
      if (link.from != gpu) continue;
      if (link.kind == LinkKind::nvlink) links += link.count;
      if (link.kind == LinkKind::pcie)
        pcie = platform_.resources[link.resource.index()].capacity / (1_GBps).value();
    }
    const auto rate = nccl_nvlink_rate(platform_.gpu_models.front().compute_capability) / 1_GBps;
    compare(NcclAspect::nvlinks, links * rate, slowest.nvlink);
    compare(NcclAspect::pcie, pcie, slowest.pcie);
  }

  void add_effect(CheckedCommunicator& checked) const {
    constexpr Bytes size = 256_MB;
    auto settings = as_found();
    if (found_channels_) settings.max_channels = found_channels_;
    const auto time = [&](const NcclSettings& chosen, const Platform& platform, const Routes& routes) {
      const Communicator communicator{routes, chosen, calibration_, gpus_};
      return time_alone(communicator.lower(CollectiveKind::all_reduce, size), platform);
    };
    const auto platform_found = networks().contains("Socket") && network_problem_ == NcclAspect::network
                                    ? with_sockets(platform_)
                                    : platform_;
    checked.effect = NcclLogEffect{size, time({}, platform_, routes_),
                                   time(settings, platform_found, Routes{platform_found})};
  }

  const NcclLog& log_;
  const NcclLogCommunicator& communicator_;
  const Platform& platform_;
  const Calibration& calibration_;
  Routes routes_;
  Variables variables_;  ///< of the log, those that gradway models
  GpuNumbers gpus_;
  std::vector<NcclComparison> comparisons_;
  std::optional<Transport> is_slower_inside_;  ///< instead of the expected one
  std::optional<bool> has_gpudirect_;          ///< contrary to the expectation
  bool lacks_nvls_ = false;
  std::optional<NcclAspect> network_problem_;  ///< of the network or its NICs, with consequences
  std::optional<int> found_channels_;          ///< fewer than expected
};

/// The communicator with numbers for the names of its hosts: a job has many of the same shape.
NcclLogCommunicator shape_of(NcclLogCommunicator communicator) {
  std::map<std::string, std::string> names;
  for (auto& [rank, process] : communicator.seen)
    process.host = names.emplace(process.host, std::to_string(names.size())).first->second;
  return communicator;
}

}  // namespace

std::vector<CheckedCommunicator> check_nccl_log(const NcclLog& log, const std::string& platform,
                                                const DataPath& data) {
  const auto node = load_platform(platform, 1, data);
  const auto gpus_per_node = static_cast<int>(node.gpus.size()) / node.nodes;
  std::map<int, std::pair<Platform, Calibration>> by_nodes;
  std::map<NcclLogCommunicator, CheckedCommunicator> by_shape;
  std::vector<CheckedCommunicator> checked;
  for (const auto& communicator : log.communicators) {
    const auto [known, is_new] = by_shape.try_emplace(shape_of(communicator));
    if (is_new && communicator.ranks > 1) {
      const auto nodes = nodes_of(communicator, gpus_per_node);
      const auto [place, is_first] = by_nodes.try_emplace(nodes);
      auto& [built, calibration] = place->second;
      if (is_first) built = load_platform(platform, nodes * gpus_per_node, data, &calibration);
      known->second = Checker{log, communicator, built, calibration}.check();
    }
    checked.push_back(known->second);
  }
  return checked;
}

}  // namespace gradway
