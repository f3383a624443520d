// SPDX-License-Identifier: Apache-2.0
#include "sim/platform/network_conditions.hpp"

namespace gradway {

NetworkConditions merged(NetworkConditions conditions, const NetworkConditions& changes) {
  const auto replace = [](auto& value, const auto& change) {
    if (change) value = change;
  };
  replace(conditions.round_trip, changes.round_trip);
  replace(conditions.window, changes.window);
  replace(conditions.loss, changes.loss);
  replace(conditions.congestion, changes.congestion);
  replace(conditions.retransmission, changes.retransmission);
  replace(conditions.routing, changes.routing);
  replace(conditions.paths, changes.paths);
  return conditions;
}

double goodput(const LossyLink& link, Retransmission retransmission) {
  const auto arrives = 1 - link.loss;
  if (retransmission == Retransmission::selective) return arrives;
  const auto repeated = 1 + link.rate * link.round_trip / link.packet;
  return arrives / (arrives + link.loss * repeated);
}

}  // namespace gradway
