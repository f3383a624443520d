// SPDX-License-Identifier: Apache-2.0
#include "readers/fit/links.hpp"

#include <algorithm>

#include "sim/cost/nccl_model.hpp"

namespace gradway {
namespace {

/// Bytes that a protocol moves per byte of data. LL's lines contain 8 bytes of data and 8 of flags.
/// @source NCCL 2.28.9, src/include/device.h
double overhead(Protocol protocol) {
  return protocol == Protocol::ll ? 2 : 1;
}

bool is_measured(const std::vector<CollectiveTable>& tables, int ranks) {
  return std::ranges::any_of(tables, [ranks](const CollectiveTable& table) {
    return table.transport == Transport::shm && table.ranks == ranks;
  });
}

CollectiveTable predict(const LinkRate& memory) {
  const auto rate = ring_rate(memory);
  // The model of the GPU only matters for the rates that NCCL assumes for LL over NVLink.
  const CommunicatorFacts communicator{
      .ranks = memory.gpus, .transport = Transport::shm, .node_bandwidth = rate, .net_bandwidth = {}};
  CollectiveTable table;
  table.transport = Transport::shm;
  table.ranks = memory.gpus;
  table.predicted_from = "copies";
  const auto factor = bus_factor(table.kind, table.ranks);
  for (auto size = 1_KiB; size <= 1_GiB; size = 4 * size) {
    const auto plan = choose_plan(table.kind, size, communicator, NcclSettings{});
    auto time = plan->latency + overhead(plan->protocol) * factor * size / rate;
    // Another plan may have less latency.
    if (!table.points.empty()) time = std::max(time, table.points.back().time);
    table.points.push_back({size, time});
  }
  table.latency = table.points.front().time;
  table.bandwidth = table.points.back().size / table.points.back().time;
  return table;
}

}  // namespace

std::vector<CollectiveTable> predict_shm(const std::vector<LinkRate>& links,
                                         const std::vector<CollectiveTable>& measured) {
  std::vector<CollectiveTable> tables;
  for (const auto& link : links) {
    if (link.role == LinkRole::host_memory && !is_measured(measured, link.gpus))
      tables.push_back(predict(link));
  }
  return tables;
}

}  // namespace gradway
