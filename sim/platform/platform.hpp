// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/ids.hpp"
#include "sim/base/units.hpp"
#include "sim/platform/gpu.hpp"
#include "sim/platform/speeds.hpp"

namespace gradway {

enum class DeviceKind : std::uint8_t { gpu, socket, root_complex, pcie_switch, nvswitch, nic, fabric_switch };
enum class LinkKind : std::uint8_t { pcie, nvlink, inter_socket, network };
enum class ResourceKind : std::uint8_t { link, host_memory, gpu, storage, cores };

/// Whether transfers begin and end there: none goes through.
bool is_endpoint(DeviceKind kind);

/// Something with a capacity that flows share: one direction of a link, the memory of a socket, a GPU's SMs,
/// what serves samples, a node's cores.
/// Platforms have millions: a name is made when somebody asks for it, see Platform::name_of.
struct Resource {
  ResourceKind kind = ResourceKind::link;
  std::uint32_t of = 0;  ///< of a link its index, of storage and cores the node, else that of the device
  double capacity = 0;   ///< as built: bytes a second; seconds of work a second of a GPU (1) and of cores
  double speed = 1;      ///< what-if: flows find so many times the capacity; see with_speeds

  /// What flows share.
  double rate() const { return capacity * speed; }
};

/// A vertex of the platform.
struct Device {
  std::string name;  ///< unique; "node1.gpu3" on platforms of several nodes
  DeviceKind kind = DeviceKind::gpu;
  int node = 0;  ///< -1 for switches of the fabric
};

/// One direction of a connection.
struct Link {
  DeviceId from;
  DeviceId to;
  LinkKind kind = LinkKind::pcie;
  ResourceId resource;
  Seconds latency{};
  int count = 1;  ///< NVLink: how many links are bonded
};

/// The node of what all share.
inline constexpr std::uint32_t everywhere = 0xffff'ffff;

/// What carries messages between nodes.
enum class NetworkKind : std::uint8_t { wire, infiniband, roce, omni_path, efa, tcp, tcpx, tcpxo };

/// How NCCL reaches other nodes over the NICs.
struct Network {
  NetworkKind kind = NetworkKind::wire;
  bool gpudirect = true;      ///< NICs read and write the memory of GPUs that are near enough
  Seconds message_latency{};  ///< of a message between nodes, beyond what NCCL's own figures hold
  std::optional<BytesPerSecond> stream_rate;  ///< most that one connection carries
  int streams = 1;  ///< connections that NCCL opens for a channel unless told otherwise
};

/// What an hour of the platform costs, from its day on until that of the next one.
struct Price {
  UsdPerHour per_node{};
  std::string region;
  std::string date;  ///< "2026-07-20"
  std::string source;
};

/// How the time of a collective is predicted.
enum class CollectiveRules : std::uint8_t {
  nccl,   ///< transports, channels, algorithms and protocols as NCCL chooses them
  ideal,  ///< rings at the full rate of their links, one link latency a step; for analysis
};

/// How much of each table a node takes where nodes are alike: they stand one after the other at the front, so
/// that what is found on one holds on the others, moved by so much. Zero where nodes are not alike.
struct NodeSize {
  std::size_t devices = 0;
  std::size_t links = 0;
  std::size_t resources = 0;
};

/// What samples are read from, and the cores that work on them, as a node sees them.
struct LoadingWay {
  std::vector<ResourceId> storage;  ///< what serves all nodes, then what this one gets of it
  bool over_cards = false;          ///< it comes over the network cards that collectives use
  std::vector<ResourceId> cache;    ///< of the node itself; empty: its memory
  std::optional<ResourceId> cores;  ///< empty: nobody knows how many
};

/// Hardware: devices, directed links and resources. Immutable once built; made by `build_platform` or a
/// generator.
struct Platform {
  std::string name;
  std::string source;
  std::vector<Device> devices;
  std::vector<Link> links;
  std::vector<Resource> resources;
  std::vector<DeviceId> gpus;                       ///< in order of rank: node by node
  std::vector<ResourceId> gpu_resources;            ///< beside `gpus`: the GPU's SMs
  std::vector<std::optional<ResourceId>> memories;  ///< beside `devices`: host memory, for sockets
  std::vector<Gpu> gpu_models;                      ///< one: all GPUs are of one kind
  int nodes = 1;
  int cores_per_node = 0;             ///< of the CPUs; 0: not known
  std::vector<LoadingWay> loading{};  ///< by node; empty: samples are in memory
  std::size_t loading_resources = 0;  ///< that these added, behind all others
  NodeSize node_size{};
  std::vector<int> nvlink_domains;  ///< by node: nodes of one number share NVSwitches; empty: none do
  std::optional<Network> network;   ///< between nodes, if they have a fabric
  std::vector<Price> prices;        ///< all that are known
  std::optional<Price> price;       ///< the one that counts
  CollectiveRules collectives = CollectiveRules::nccl;
  bool amd_cpu = false;  ///< NCCL's rules ask
  bool nvls = true;      ///< NVLink SHARP is not switched off; GPUs and NVSwitches must have it too
  std::optional<BytesPerSecond>
      pageable_copy_rate;  ///< a copy from pageable memory: bounded by one core's staging copy
  std::optional<Seconds> eager_operation;  ///< CPU time of an operation of eager PyTorch on its hosts
  Speeds speeds;  ///< what-if; those of links and memories stand in the resources too

  const Device& device(DeviceId id) const { return devices[id.index()]; }
  /// "gpu0 -> plx1", "cpu0 memory", "gpu3"
  std::string name_of(ResourceId id) const;
  /// What NCCL takes for a node: all that NVSwitches join. @return a number; those of one node are equal
  int nvlink_domain(DeviceId id) const {
    const auto node = device(id).node;
    return nvlink_domains.empty() || node < 0 ? node : nvlink_domains[static_cast<std::size_t>(node)];
  }
};

}  // namespace gradway
