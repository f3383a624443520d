// SPDX-License-Identifier: Apache-2.0
#include "sim/platform/builder.hpp"

#include <fmt/format.h>

namespace gradway {
namespace {

using Topology = GeneratedPlatform::Topology;

void add_ring(PlatformBuilder& builder, const PlatformBuilder::Rates& rates) {
  const auto gpus = builder.platform().gpus;
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    const auto next = (i + 1) % gpus.size();
    const bool is_linked = gpus.size() == 2 && i == 1;  // by both directions of the first link
    if (next != i && !is_linked) builder.connect(gpus[i], gpus[next], LinkKind::nvlink, rates);
  }
}

void add_star(PlatformBuilder& builder, const PlatformBuilder::Rates& rates) {
  const auto hub = *builder.add_device("switch", DeviceKind::fabric_switch, -1);
  for (const auto gpu : builder.platform().gpus) builder.connect(gpu, hub, LinkKind::network, rates);
}

void add_leaf_spine(const GeneratedPlatform& generated, PlatformBuilder& builder,
                    const PlatformBuilder::Rates& rates) {
  const auto gpus = builder.platform().gpus;
  const auto per_leaf = static_cast<std::size_t>(generated.gpus_per_leaf);
  std::vector<DeviceId> spines;
  for (int s = 0; s < generated.spines; ++s) {
    spines.push_back(*builder.add_device(fmt::format("spine{}", s), DeviceKind::fabric_switch, -1));
  }
  for (std::size_t first = 0; first < gpus.size(); first += per_leaf) {
    const auto leaf =
        *builder.add_device(fmt::format("leaf{}", first / per_leaf), DeviceKind::fabric_switch, -1);
    for (auto i = first; i < std::min(first + per_leaf, gpus.size()); ++i) {
      builder.connect(gpus[i], leaf, LinkKind::network, rates);
    }
    for (const auto spine : spines) {
      builder.connect(leaf, spine, LinkKind::network,
                      {generated.uplink_bandwidth, generated.uplink_bandwidth, generated.latency, 1});
    }
  }
}

}  // namespace

void generate(const GeneratedPlatform& generated, const Gpu& gpu, int ranks, PlatformBuilder& builder) {
  for (int rank = 0; rank < ranks; ++rank) {
    builder.add_gpu(*builder.add_device(fmt::format("gpu{}", rank), DeviceKind::gpu, 0), gpu);
  }
  const PlatformBuilder::Rates rates{generated.bandwidth, generated.bandwidth, generated.latency, 1};
  switch (generated.topology) {
    case Topology::ring:
      return add_ring(builder, rates);
    case Topology::star:
      return add_star(builder, rates);
    case Topology::leaf_spine:
      return add_leaf_spine(generated, builder, rates);
  }
}

}  // namespace gradway
