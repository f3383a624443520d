// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sim/describe/platform_draft.hpp"
#include "sim/import/topology/topology_matrix.hpp"

namespace gradway {

/// The GPU of a node that is described without being measured.
struct DescribedGpu {
  std::string name;            ///< of its file
  int compute_capability = 0;  ///< 89 for 8.9
  std::string remark;          ///< where the name comes from
};

/// A node as a platform file, from its matrix alone: the parts and their connections are the matrix', the
/// rates are published ones of links of their kind. What is assumed says so.
WrittenPlatform matrix_platform(const TopologyMatrix& matrix, const DescribedGpu& gpu);

/// Lists a layout's NICs in a draft, and says in comments how several of these nodes are described.
void add_nics(PlatformDraft& draft);

}  // namespace gradway
