// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "sim/platform/platform.hpp"

namespace gradway {

/// Read rates of storage or of a cache.
struct StorageRates {
  BytesPerSecond all{};                      ///< for all nodes together; local storage: for one node
  std::optional<BytesPerSecond> one_node{};  ///< largest rate for one node
  bool is_local = false;                     ///< each node has its own storage
  bool over_nics = false;                    ///< it is reached over the NICs that collectives use
};

/// Capacity of a node's CPU cores for loader workers, in seconds of core time per second, when all workers
/// are busy. A second thread on a core adds half a core.
/// @param trainers number of training processes, each of which keeps a thread busy with launches
/// @source own measurement, 2026-11-22, a virtual machine of 32 threads: 16 workers decode 14.6 times as many
///         images per second as one worker, 24 workers 19.4 times, 32 workers 22.5 times
double cores_for_loaders(int cores, int trainers, int workers);

/// Adds the resources that loaders share: storage, a cache, and the CPU cores that training leaves to them.
/// @param cache cache of each node; empty if it is in host memory or does not exist
/// @param cores from `cores_for_loaders`; empty: unknown
/// @param cold tier outside the nodes from which the dataset is still being staged
Platform with_loading(Platform platform, const std::optional<StorageRates>& storage,
                      const std::optional<StorageRates>& cache, std::optional<double> cores,
                      const std::optional<StorageRates>& cold = std::nullopt);

}  // namespace gradway
