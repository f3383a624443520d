// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

#include "sim/platform/platform.hpp"

namespace gradway {

/// What is known of a kind of network; a platform's file can replace each figure by its own.
struct NetworkFacts {
  NetworkKind kind = NetworkKind::wire;
  std::string_view name;  ///< in files
  double efficiency = 1;  ///< payload that the wire carries, of all that it could
  bool gpudirect = true;
  Seconds message_latency{};
};

/// All kinds of network, with the source of each figure.
std::span<const NetworkFacts> networks();
const NetworkFacts& facts_of(NetworkKind kind);

}  // namespace gradway
