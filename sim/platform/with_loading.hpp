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
};

/// The platform with what loaders share: storage, and the cores that training leaves them.
/// @param busy_cores a node, of the processes that train: each keeps one busy with its launches
Platform with_loading(Platform platform, const std::optional<StorageRates>& storage, int busy_cores);

}  // namespace gradway
