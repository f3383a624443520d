// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "sim/base/problem.hpp"

namespace gradway {

class XmlFile;

/// What NCCL's search found for an algorithm.
struct NcclGraph {
  std::string algorithm;  ///< ring, tree ...
  std::string pattern;    ///< how a channel goes through the GPUs
  int channels = 0;
  double speed_intra = 0;  ///< GB/s of a channel inside the node
  double speed_inter = 0;  ///< ... and between nodes
  std::string type_intra;  ///< the furthest that a channel goes inside the node: NVL, PIX, SYS ...
  std::string type_inter;
  /// The GPUs and NICs of each channel in their order, "0 1 2 3"; channels that are alike once, with their
  /// number
  std::vector<std::pair<std::string, int>> orders;
};

/// Reads the elements of NCCL_GRAPH_DUMP_FILE. @throws ConfigError at what is no such file
/// @source NCCL 2.30.7, src/graph/search.cc
std::vector<NcclGraph> read_nccl_graphs(const XmlFile& file);

}  // namespace gradway
