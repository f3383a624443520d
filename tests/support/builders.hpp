// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/platform/description.hpp"
#include "sim/scenario/scenario.hpp"
#include "sim/workload/architectures.hpp"

/// Small inputs for tests, with round numbers.
namespace gradway::test {

inline Gpu ideal_gpu() {
  Gpu gpu;
  gpu.name = "ideal";
  gpu.ideal = true;
  return gpu;
}

/// 100 TFLOP/s in every precision and 1 TB/s with efficiency 1; kernels of at least 1 us, launches without
/// cost.
inline Gpu round_gpu() {
  Gpu gpu;
  gpu.name = "round";
  gpu.compute_capability = 80;
  gpu.memory = 40_GB;
  gpu.memory_bandwidth = 1000_GBps;
  gpu.peak.fill(FlopsPerSecond{100e12});
  gpu.matrix_efficiency.fill(1);
  gpu.memory_efficiency = 1;
  gpu.widen_efficiency = 0.5;
  gpu.kernel_latency = 1_us;
  return gpu;
}

inline Platform ring_platform(int ranks, BytesPerSecond bandwidth, Seconds latency) {
  PlatformDescription description;
  description.name = "ring";
  description.collectives = CollectiveRules::ideal;
  description.hardware = GeneratedPlatform{.topology = GeneratedPlatform::Topology::ring,
                                           .bandwidth = bandwidth,
                                           .latency = latency,
                                           .uplink_bandwidth = {}};
  return build_platform(description, ideal_gpu(), ranks);
}

inline LinkDescription link(std::string from, std::string to, LinkKind kind, BytesPerSecond bandwidth,
                            int count = 1) {
  return {{}, {std::move(from), {}}, {std::move(to), {}}, kind, bandwidth, bandwidth, Seconds{}, count};
}

/// Two sockets. gpu0 and gpu1 share a switch with a NIC and a host bridge; gpu2 has its own switch below that
/// bridge; gpu3 has another bridge of the first socket; gpu4 and gpu5 are connected to the second socket.
inline NodeDescription tree_node() {
  NodeDescription node;
  node.gpus = 6;
  node.sockets = {{{"cpu0", {}}, 200_GBps}, {{"cpu1", {}}, 200_GBps}};
  node.root_complexes = {{"rc[0-2]", {}}};
  node.pcie_switches = {{"plx[0-2]", {}}};
  node.nics = {{"nic0", {}}};
  const auto pcie = LinkKind::pcie;
  node.links = {
      link("plx0", "gpu[0-1]", pcie, 25_GBps), link("plx0", "nic0", pcie, 25_GBps),
      link("plx1", "gpu2", pcie, 25_GBps),     link("plx2", "plx[0-1]", pcie, 25_GBps),
      link("plx2", "rc0", pcie, 25_GBps),      link("gpu3", "rc1", pcie, 25_GBps),
      link("rc[0-1]", "cpu0", pcie, 25_GBps),  link("gpu[4-5]", "rc2", pcie, 25_GBps),
      link("rc2", "cpu1", pcie, 25_GBps),      link("cpu0", "cpu1", LinkKind::inter_socket, 20_GBps)};
  return node;
}

/// `gpus` GPUs on an NVSwitch, each with PCIe directly to one socket and a NIC.
inline NodeDescription nvswitch_node(int gpus) {
  const auto last = std::to_string(gpus - 1);
  NodeDescription node;
  node.gpus = gpus;
  node.sockets = {{{"cpu0", {}}, 400_GBps}};
  node.nvswitches = {{"nvswitch", {}}};
  node.pcie_switches = {{"plx[0-" + last + "]", {}}};
  node.nics = {{"nic[0-" + last + "]", {}}};
  node.links = {link("gpu[0-" + last + "]", "nvswitch", LinkKind::nvlink, 300_GBps, 12),
                link("gpu[0-" + last + "]", "plx[0-" + last + "]", LinkKind::pcie, 25_GBps),
                link("nic[0-" + last + "]", "plx[0-" + last + "]", LinkKind::pcie, 25_GBps),
                link("plx[0-" + last + "]", "cpu0", LinkKind::pcie, 25_GBps)};
  return node;
}

inline Platform built_platform(NodeDescription node, int nodes = 1,
                               std::optional<FabricDescription> fabric = {}) {
  PlatformDescription description;
  description.name = "test";
  description.hardware = BuiltPlatform{std::move(node), nodes, std::move(fabric), {}};
  return build_platform(description, round_gpu(), 1);
}

inline FabricDescription star_fabric() {
  FabricDescription fabric;
  fabric.bandwidth = BytesPerSecond{12.5e9};
  return fabric;
}

/// A DDP job of synthetic layers on an ideal ring.
inline Scenario ring_scenario(int ranks, const std::vector<SyntheticLayer>& layers, Bytes cap,
                              BytesPerSecond bandwidth = 50_GBps, Seconds latency = Seconds{500e-9}) {
  Scenario scenario;
  scenario.name = "test";
  scenario.platform = ring_platform(ranks, bandwidth, latency);
  scenario.model.name = "synthetic";
  scenario.model.layers = synthetic(layers);
  scenario.model.optimizer_time = Seconds{};
  scenario.job.gpus = ranks;
  std::get<Ddp>(scenario.job.strategy).bucket_cap = cap;
  return scenario;
}

}  // namespace gradway::test
