// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "sim/base/problem.hpp"
#include "sim/base/units.hpp"
#include "sim/platform/gpu.hpp"
#include "sim/platform/platform.hpp"

namespace gradway {

// Limits of a platform's size.
inline constexpr int most_nodes = 65536;
inline constexpr int most_gpus_of_a_node = 1024;
inline constexpr int most_nics = 64;  // of a node
inline constexpr int most_spines = 4096;

/// One name ("gpu3") or several ("gpu[0-7]"), and the place in the file.
struct NamePattern {
  std::string text;
  Where where;
};

/// Names of `LinkKind` in platform files, in the order of the enum.
inline constexpr std::array<std::string_view, 6> link_words{"pcie",    "nvlink", "inter_socket",
                                                            "network", "xgmi",   "c2c"};

/// A group of connections. The names of both ends are paired one by one, or one end has a single name that is
/// connected to all names of the other.
struct LinkDescription {
  Where where;
  NamePattern from;
  NamePattern to;
  LinkKind kind = LinkKind::pcie;
  BytesPerSecond forward{};   ///< from -> to
  BytesPerSecond backward{};  ///< to -> from
  Seconds latency{};
  int count = 1;  ///< NVLink and XGMI: number of bonded links, which share the bandwidth
};

struct SocketDescription {
  NamePattern name;
  BytesPerSecond memory_bandwidth{};
};

/// The parts of a node. GPUs are named gpu0, gpu1, ...; other names are free.
struct NodeDescription {
  int gpus = 0;
  std::vector<SocketDescription> sockets;
  std::vector<NamePattern> root_complexes;
  std::vector<NamePattern> pcie_switches;
  std::vector<NamePattern> nvswitches;
  std::vector<NamePattern> nics;
  std::vector<LinkDescription> links;
};

/// The network between nodes. `star`: one switch, which is never the bottleneck. `leaf_spine`: one leaf for
/// each group of nodes. `rail_optimised`: one leaf for each group of nodes and each rail, which is a NIC
/// number or several in a row. Each leaf has one uplink to each spine. `rail_only`: the same, but no switch
/// joins rails: each has spines of its own, or a single leaf.
struct FabricDescription {
  enum class Kind { star, leaf_spine, rail_optimised, rail_only };
  Where where;
  Kind kind = Kind::star;
  Network network;
  double efficiency = 1;              ///< payload rate of a link as a fraction of its wire rate
  BytesPerSecond bandwidth{};         ///< wire rate from a NIC to its switch, per direction
  Seconds latency{};                  ///< of each link of the fabric
  int nodes_per_leaf = 0;             ///< 0: all
  int nics_per_leaf = 1;              ///< of a node; for rails
  int spines = 0;                     ///< 0: leaves have no uplinks; for `rail_only` those of a rail
  BytesPerSecond uplink_bandwidth{};  ///< wire rate from a leaf to a spine, per direction

  bool has_rails() const { return kind == Kind::rail_optimised || kind == Kind::rail_only; }
};

/// In the order of `FabricDescription::Kind`.
inline constexpr std::array<std::string_view, 4> fabric_words{"star", "leaf_spine", "rail_optimised",
                                                              "rail_only"};

/// Nodes whose GPUs share NVSwitches, as the trays of a rack do.
struct NvlinkDomainDescription {
  Where where;
  int nodes = 1;               ///< nodes per domain
  BytesPerSecond bandwidth{};  ///< from a GPU to the switches, per direction
  int count = 1;               ///< number of bonded links, which share the bandwidth
  Seconds latency{};
};

/// Hardware whose parts and links the file lists.
struct BuiltPlatform {
  NodeDescription node;
  std::optional<int> nodes = 1;  ///< empty: as many as the ranks of the job need
  std::optional<FabricDescription> fabric;
  std::optional<NvlinkDomainDescription> nvlink_domain{};

  int nodes_for(int ranks) const { return nodes.value_or((ranks + node.gpus - 1) / node.gpus); }
};

/// Generated hardware for analysis, with one GPU for each rank of the job.
struct GeneratedPlatform {
  enum class Topology { ring, star, leaf_spine };
  Topology topology = Topology::ring;
  BytesPerSecond bandwidth{};  ///< of a link, per direction
  Seconds latency{};
  int gpus_per_leaf = 8;              ///< leaf_spine only
  int spines = 1;                     ///< leaf_spine only
  BytesPerSecond uplink_bandwidth{};  ///< leaf_spine only
};

/// In the order of `GeneratedPlatform::Topology`.
inline constexpr std::array<std::string_view, 3> topology_words{"ring", "star", "leaf_spine"};

enum class CpuVendor : std::uint8_t { intel, amd, arm };

/// The contents of a platform file before names are looked up.
struct PlatformDescription {
  std::string name;
  std::string source;
  Where where;
  std::string gpu;  ///< name of the GPU's file
  std::variant<BuiltPlatform, GeneratedPlatform> hardware;
  std::vector<Price> prices;   ///< all known prices, in the order of the file
  std::optional<Price> price;  ///< the price to calculate with
  PriceByTerms price_by_terms{};
  CollectiveRules collectives = CollectiveRules::nccl;
  int cores = 0;                            ///< per node; 0: unknown
  CpuVendor cpu_vendor = CpuVendor::intel;  ///< affects NCCL's rules
  bool nvls = true;
  std::optional<BytesPerSecond> pageable_copy_rate;
  std::optional<Seconds> eager_operation;
  std::optional<Watts> gpu_power_limit;  ///< empty: that of the GPU's file
};

/// Builds the platform.
/// @param ranks number of ranks of the job, which determines the number of GPUs of a generated platform, and
///        the number of nodes of a platform whose file does not
/// @throws ConfigError that lists all names that are unknown or used twice, ends that cannot be paired, and
///         parts without a link
Platform build_platform(const PlatformDescription& description, const Gpu& gpu, int ranks);

/// The names of a pattern: gpu0, gpu1 and gpu2 for "gpu[0-2]". @throws ConfigError for an invalid range
std::vector<std::string> expand(const NamePattern& pattern);

}  // namespace gradway
