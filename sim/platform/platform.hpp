// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/ids.hpp"
#include "sim/base/units.hpp"
#include "sim/platform/ecmp.hpp"
#include "sim/platform/gpu.hpp"
#include "sim/platform/network_conditions.hpp"
#include "sim/platform/price.hpp"
#include "sim/platform/speeds.hpp"

namespace gradway {

enum class DeviceKind : std::uint8_t { gpu, socket, root_complex, pcie_switch, nvswitch, nic, fabric_switch };
/// `c2c`: between a CPU and its GPUs instead of PCIe (NVLink-C2C of Grace).
enum class LinkKind : std::uint8_t { pcie, nvlink, inter_socket, network, xgmi, c2c };

/// Whether such links join GPUs directly or through a switch of their own: NVLink, and XGMI of AMD. RCCL
/// takes XGMI where NCCL takes NVLink. @source github.com/ROCm/rccl at 0cbce2a7, src/graph/topo.cc (LINK_NVL)
constexpr bool joins_gpus(LinkKind kind) {
  return kind == LinkKind::nvlink || kind == LinkKind::xgmi;
}
enum class ResourceKind : std::uint8_t { link, host_memory, gpu, storage, cores };

/// Whether transfers start and end at such a device and never pass through it.
bool is_endpoint(DeviceKind kind);

/// Something with a capacity that flows share: one direction of a link, the memory of a socket, a GPU's
/// multiprocessors, storage, the CPU cores of a node. Platforms have millions of them, so that names are
/// generated on demand; see Platform::name_of.
struct Resource {
  ResourceKind kind = ResourceKind::link;
  std::uint32_t of = 0;  ///< link: its index; storage and cores: the node; others: the device
  double capacity = 0;   ///< as built: bytes per second; GPU (1) and cores: seconds of work per second
  double speed = 1;      ///< what-if factor on the capacity; see with_speeds
  double share = 1;      ///< of the capacity that arrives, on links of a network; see with_network

  /// The capacity that flows share.
  double rate() const { return capacity * speed * share; }
};

/// A vertex of the platform. See Platform::name_of.
struct Device {
  DeviceKind kind = DeviceKind::gpu;
  int node = 0;  ///< -1 for switches of the fabric
};

/// Unique names of devices. Those of a node are stored once for all identical nodes.
struct DeviceNames {
  std::vector<std::string> parts;   ///< of each repeated node
  std::size_t nodes = 0;            ///< number of repeated nodes, whose devices come first
  std::vector<std::string> others;  ///< of all other devices
};

/// One direction of a connection.
struct Link {
  DeviceId from;
  DeviceId to;
  LinkKind kind = LinkKind::pcie;
  ResourceId resource;
  Seconds latency{};
  int count = 1;  ///< NVLink and XGMI: number of bonded links
};

/// `Resource::of` of storage that all nodes share.
inline constexpr std::uint32_t all_nodes = 0xffff'ffff;

/// The kind of the network between nodes.
enum class NetworkKind : std::uint8_t { wire, infiniband, roce, omni_path, efa, tcp, tcpx, tcpxo };

/// The network that NCCL uses between nodes.
struct Network {
  NetworkKind kind = NetworkKind::wire;
  bool gpudirect = true;                      ///< NICs read and write the memory of GPUs that are near enough
  Seconds message_latency{};                  ///< in addition to the latency in NCCL's cost model
  std::optional<BytesPerSecond> stream_rate;  ///< largest rate of one connection
  bool assumes_stream_rate = false;           ///< it is that of other networks of this kind
  int streams = 1;                            ///< NCCL's default number of connections per channel
  NetworkConditions conditions{};
  BytesPerSecond nic_rate{};  ///< payload rate of a NIC, per direction
  int nodes_per_leaf = 0;     ///< 0: one switch connects all nodes
  /// The uplinks of each leaf, joined to one link because flows spread over them; see Routing.
  struct Uplinks {
    int count = 1;
    int nics = 1;    ///< whose connections leave a leaf at the same time: of a node, or of a rail
    int leaves = 1;  ///< number of leaves
  };
  std::optional<Uplinks> uplinks{};  ///< empty: each ring has its uplink
  double spread = 1;                 ///< share of the joint rate of the uplinks that hashed flows reach
};

/// How collectives are simulated.
enum class CollectiveRules : std::uint8_t {
  nccl,   ///< with the transports, channels, algorithms and protocols that NCCL chooses
  ideal,  ///< as rings at the full rate of their links with one link latency per step; for analysis
};

/// Number of entries of each node in the tables of a platform with identical nodes. The entries of all nodes
/// come first in the tables, node by node. Zero if nodes are not identical.
struct NodeSize {
  std::size_t devices = 0;
  std::size_t links = 0;
  std::size_t resources = 0;
};

/// The resources with which a node loads samples.
struct LoadingPath {
  std::vector<ResourceId> storage;  ///< storage that all nodes share, then the limit of this node
  bool over_nics = false;           ///< storage is reached over the NICs that collectives use
  bool cold_over_nics = false;      ///< likewise
  std::vector<ResourceId> cache;    ///< a cache of the node itself; empty: its memory
  std::vector<ResourceId> cold;     ///< as `storage`, of the tier that a dataset is being staged from
  std::optional<ResourceId> cores;  ///< CPU cores; empty: their number is unknown
};

/// Hardware: devices, directed links and resources. Built by `build_platform`; immutable afterwards.
struct Platform {
  std::string name;
  std::string source;
  std::vector<Device> devices;
  std::vector<Link> links;
  std::vector<Resource> resources;
  std::vector<DeviceId> gpus;                       ///< in order of rank, node by node
  std::vector<ResourceId> gpu_resources;            ///< parallel to `gpus`: multiprocessors
  std::vector<std::optional<ResourceId>> memories;  ///< parallel to `devices`: host memory of sockets
  std::vector<Gpu> gpu_models;                      ///< one entry, since all GPUs are of one kind
  int nodes = 1;
  int cores_per_node = 0;              ///< CPU cores; 0: unknown
  std::vector<LoadingPath> loading{};  ///< by node; empty: samples are in memory
  std::size_t loading_resources = 0;   ///< number of resources of `loading`, which come last
  NodeSize node_size{};
  std::vector<int> nvlink_domains;  ///< by node: number of its NVLink domain; empty: one domain per node
  std::optional<Network> network;   ///< empty: nodes are not connected by a fabric
  std::vector<Price> prices;        ///< all known prices
  std::optional<Price> price;       ///< the price to calculate with
  PriceByTerms price_by_terms{};    ///< the prices of a campaign
  CollectiveRules collectives = CollectiveRules::nccl;
  bool amd_cpu = false;  ///< affects NCCL's rules
  bool nvls = true;      ///< NVLink SHARP is allowed; GPUs and NVSwitches must support it, too
  /// Rate of a copy from pageable memory, which the staging copy of one core limits.
  std::optional<BytesPerSecond> pageable_copy_rate;
  std::optional<Seconds> eager_operation;  ///< CPU time of an operation in eager PyTorch
  SpeedFactors speeds;  ///< what-if; `Resource::speed` has those of links and memories, too

  DeviceNames device_names{};

  const Device& device(DeviceId id) const { return devices[id.index()]; }
  /// "gpu3"; "node1.gpu3" on platforms of several nodes
  std::string name_of(DeviceId id) const;
  /// "gpu0 -> plx1", "cpu0 memory", "gpu3"
  std::string name_of(ResourceId id) const;
  /// Number of the NVLink domain of a device, which NCCL treats as one node.
  int nvlink_domain(DeviceId id) const {
    const auto node = device(id).node;
    return nvlink_domains.empty() || node < 0 ? node : nvlink_domains[static_cast<std::size_t>(node)];
  }
};

std::optional<DeviceId> find_device(const Platform& platform, const std::string& name);

/// Whether both ends of a link are switches of the fabric.
bool is_between_switches(const Platform& platform, const Link& link);

}  // namespace gradway
