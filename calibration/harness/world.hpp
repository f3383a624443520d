// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace gradway::probe {

/// The processes of a run over several nodes, as described by torchrun and similar launchers.
struct World {
  int rank = 0;
  int ranks = 1;
  int local_rank = 0;
  int local_ranks = 1;
  std::string host;  ///< Of rank 0.
  int port = 0;      ///< Port of the launcher's own store; the probe uses those after it.

  int nodes() const { return ranks / local_ranks; }
};

/// Reads RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE, MASTER_ADDR and MASTER_PORT.
/// @param variable looks up a variable of the environment; null if it is not set
/// @return empty if RANK is not set: the run is on one node and starts its own processes
/// @throws std::invalid_argument if some contradict each other or are missing; the message says what to do
std::optional<World> read_world(const std::function<const char*(const char*)>& variable);

}  // namespace gradway::probe
