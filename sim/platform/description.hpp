// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
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
/// for each group of nodes; each leaf has one uplink of the given rate to each spine.
struct FabricDescription {
  enum class Kind { star, leaf_spine };
  Where where;
  Kind kind = Kind::star;
  BytesPerSecond bandwidth{};         ///< NIC to switch, per direction
  Seconds latency{};                  ///< of each link of the fabric
  int nodes_per_leaf = 1;             ///< leaf_spine only
  int spines = 1;                     ///< leaf_spine only
  BytesPerSecond uplink_bandwidth{};  ///< leaf_spine only: one leaf to one spine, per direction
};

/// Hardware written out by hand.
struct BuiltPlatform {
  NodeDescription node;
  int nodes = 1;
  std::optional<FabricDescription> fabric;
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
  bool amd_cpu = false;
  std::optional<BytesPerSecond> pageable_copy_rate;
};

/// Makes the platform. @param ranks how many GPUs a generated platform gets; a built one has its own number.
/// @throws ConfigError for names that do not exist or exist twice, ends that do not pair up, parts that no
/// link
///         reaches; all problems at once.
Platform build_platform(const PlatformDescription& description, const Gpu& gpu, int ranks);

/// "gpu[0-2]" -> gpu0, gpu1, gpu2; a plain name -> itself. @throws ConfigError for a bad range.
std::vector<std::string> expand(const NamePattern& pattern);

}  // namespace gradway
