// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "sim/platform/platform.hpp"

namespace gradway {

/// What serves samples, in plain bytes a second.
struct StorageRates {
  BytesPerSecond all{};                      ///< to all nodes at once; where each node has its own: to one
  std::optional<BytesPerSecond> one_node{};  ///< to one of several at most
  bool is_local = false;                     ///< each node has its own
  bool over_cards = false;                   ///< it comes over the network cards that collectives use
};

/// What a node's cores do for loader workers, in seconds of one core a second, when all of them are busy. A
/// second thread on a core adds half of it.
/// @param trainers processes that train: each keeps a thread busy with its launches
/// @source own measurement, 2026-11-22, a virtual machine of 32 threads: 16 workers make 14.6 times the
/// images of one, 24 make 19.4, 32 make 22.5
double cores_for_loaders(int cores, int trainers, int workers);

/// The platform with what loaders share: storage, and the cores that training leaves them.
/// @param cache that each node has of its own, if it is not in its memory. @param cores of
/// `cores_for_loaders`; empty: not known
Platform with_loading(Platform platform, const std::optional<StorageRates>& storage,
                      const std::optional<StorageRates>& cache, std::optional<double> cores);

}  // namespace gradway
