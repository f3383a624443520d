// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "sim/platform/platform.hpp"
#include "sim/scenario/job.hpp"

namespace gradway {

/// What bounds the rate at which nodes copy a dataset to the hot tier.
enum class StageInLimit : std::uint8_t {
  cold_read,  ///< bandwidth of the cold tier, in total or of the nodes
  requests,   ///< that the cold tier serves per second
  streams,    ///< latency and rate of the requests that are in flight
  network,    ///< NICs of the nodes, if storage uses those of collectives
  hot_write   ///< bandwidth of the hot tier
};

/// The copy of a dataset from a cold tier to the tier that training reads, by all nodes of the job.
struct StageInCopy {
  int nodes = 1;
  Bytes bytes{};  ///< that leave the cold tier: all samples, once for each node if the hot tier is its drive
  BytesPerSecond rate{};  ///< the least of the limits
  StageInLimit limit = StageInLimit::cold_read;
  BytesPerSecond cold{};      ///< largest rate of the cold tier to all nodes
  BytesPerSecond hot_read{};  ///< largest rates of the hot tier
  BytesPerSecond hot_write{};
  double requests = 0;  ///< to the cold tier, and as many to the hot one
  // In USD, 0 if a tier has no price.
  double usd_requests = 0;
  double usd_egress = 0;
  double usd_writes = 0;

  Seconds time() const { return bytes / rate; }
  double usd() const { return usd_requests + usd_egress + usd_writes; }
};

/// Empty if the dataset is not staged. A stream requests what one request of a loader reads, writes it and
/// requests the next. Nodes that know equal pieces (`DedupPlace::network`) copy each once.
std::optional<StageInCopy> stage_in_copy(const Job& job, const Platform& platform);

/// Largest rate at which a tier answers this many parallel requests, each of which waits for its first byte.
BytesPerSecond rate_of_streams(const StorageTier& tier, Bytes request, double streams);

}  // namespace gradway
