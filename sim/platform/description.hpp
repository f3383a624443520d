// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
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

/// A name or several: "gpu3", "gpu[0-7]", each with the place it was written.
struct NamePattern {
  std::string text;
  Where where;
};

/// What platform files call a kind of link; in the order of the enum.
inline constexpr std::array<std::string_view, 4> link_words{"pcie", "nvlink", "inter_socket", "network"};

/// A group of connections: the names of both ends pair up one by one, or one end serves all of the other.
struct LinkDescription {
  Where where;
  NamePattern from;
  NamePattern to;
  LinkKind kind = LinkKind::pcie;
  BytesPerSecond forward{};   ///< from -> to
  BytesPerSecond backward{};  ///< to -> from
  Seconds latency{};
  int count = 1;  ///< NVLink: bonded links behind the bandwidth
};

struct SocketDescription {
  NamePattern name;
  BytesPerSecond memory_bandwidth{};
};

/// What a node is made of. GPUs are gpu0, gpu1, ... ; the other names are free.
struct NodeDescription {
  int gpus = 0;
  std::vector<SocketDescription> sockets;
  std::vector<NamePattern> root_complexes;
  std::vector<NamePattern> pcie_switches;
  std::vector<NamePattern> nvswitches;
  std::vector<NamePattern> nics;
  std::vector<LinkDescription> links;
};

/// How the NICs of several nodes meet. `star`: one switch that is never the bottleneck. `leaf_spine`: a leaf
/// for each group of nodes. `rail_optimised`: for each group of nodes a leaf for each NIC of a node, so that
/// NICs of one number meet on one leaf. Each leaf has one uplink of the given rate to each spine.
struct FabricDescription {
  enum class Kind { star, leaf_spine, rail_optimised };
  Where where;
  Kind kind = Kind::star;
  Network network;
  double efficiency = 1;              ///< payload that the wire carries, of all that it could
  BytesPerSecond bandwidth{};         ///< of the wire from a NIC to its switch, per direction
  Seconds latency{};                  ///< of each link of the fabric
  int nodes_per_leaf = 1;             ///< not of a star
  int spines = 1;                     ///< not of a star
  BytesPerSecond uplink_bandwidth{};  ///< not of a star: the wire from one leaf to one spine, per direction
};

/// GPUs of so many nodes share NVSwitches, as in a rack of trays.
struct NvlinkDomainDescription {
  Where where;
  int nodes = 1;
  BytesPerSecond bandwidth{};  ///< of a GPU into the switches, per direction
  int count = 1;               ///< bonded links behind the bandwidth
  Seconds latency{};
};

/// Hardware written out by hand.
struct BuiltPlatform {
  NodeDescription node;
  std::optional<int> nodes = 1;  ///< empty: as many as the job's ranks need
  std::optional<FabricDescription> fabric;
  std::optional<NvlinkDomainDescription> nvlink_domain{};

  int nodes_for(int ranks) const { return nodes.value_or((ranks + node.gpus - 1) / node.gpus); }
};

/// Hardware made up for analysis; as many GPUs as the job has ranks.
struct GeneratedPlatform {
  enum class Topology { ring, star, leaf_spine };
  Topology topology = Topology::ring;
  BytesPerSecond bandwidth{};  ///< of a link, per direction
  Seconds latency{};
  int gpus_per_leaf = 8;              ///< leaf_spine only
  int spines = 1;                     ///< leaf_spine only
  BytesPerSecond uplink_bandwidth{};  ///< leaf_spine only
};

/// What a platform file says, names not yet looked up.
struct PlatformDescription {
  std::string name;
  std::string source;
  Where where;
  std::string gpu;  ///< name of the GPU's file
  std::variant<BuiltPlatform, GeneratedPlatform> hardware;
  std::vector<Price> prices;   ///< all that are known, in the order of the file
  std::optional<Price> price;  ///< the one that counts
  CollectiveRules collectives = CollectiveRules::nccl;
  int cores = 0;  ///< of a node; 0: not known
  bool amd_cpu = false;
  bool nvls = true;
  std::optional<BytesPerSecond> pageable_copy_rate;
  std::optional<Seconds> eager_operation;
};

/// Makes the platform.
/// @param ranks of the job: a generated platform gets as many GPUs, and one whose number of nodes is left
///        open as many nodes as they fill; any other has its own number
/// @throws ConfigError for names that do not exist or exist twice, ends that do not pair up, parts that no
///         link reaches; all problems at once.
Platform build_platform(const PlatformDescription& description, const Gpu& gpu, int ranks);

/// "gpu[0-2]" -> gpu0, gpu1, gpu2; a plain name -> itself. @throws ConfigError for a bad range.
std::vector<std::string> expand(const NamePattern& pattern);

}  // namespace gradway
