// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/platform/routes.hpp"

namespace gradway {

/// A cell of `nvidia-smi topo -m`.
struct Connection {
  PathType type = PathType::self;
  int nvlinks = 0;  ///< bonded links of NV#, else 0

  bool operator==(const Connection&) const = default;
};

/// What `nvidia-smi topo -m` prints: how near the GPUs and NICs of a node are to each other.
struct TopologyMatrix {
  std::size_t gpus = 0;
  std::vector<std::string> nics;               ///< by the names of the legend, where there is one
  std::vector<std::vector<Connection>> cells;  ///< GPUs first, then NICs; symmetric
  std::vector<std::optional<int>> numa_nodes;  ///< of each GPU; empty where the text does not say

  std::size_t size() const { return cells.size(); }
};

/// Reads the text of `nvidia-smi topo -m`, also where it was pasted: cells between tabs or blanks, with or
/// without affinity columns, legends, terminal escapes and other output around it, and in lines that a narrow
/// terminal broke between cells.
/// @param file names the text in messages.
/// @throws ConfigError at the line and column of what is no such matrix
TopologyMatrix read_topology_matrix(std::string_view text, const std::string& file);

}  // namespace gradway
