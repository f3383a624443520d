// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sim/describe/platform_draft.hpp"
#include "sim/import/topology/topology_matrix.hpp"

namespace gradway {

/// The GPU of a node that is described without measurements.
struct DescribedGpu {
  std::string name;            ///< Name of its file.
  int compute_capability = 0;  ///< 89 for 8.9.
  std::string remark;          ///< Source of the name.
};

/// Writes a platform file of a node from its matrix alone. Parts and connections are those of the matrix;
/// rates are published figures for links of the same kind. The file marks every assumption.
WrittenPlatform matrix_platform(const TopologyMatrix& matrix, const DescribedGpu& gpu);

/// Lists the layout's NICs in a draft. Comments explain how to describe several such nodes.
void add_nics(PlatformDraft& draft);

}  // namespace gradway
