// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <variant>
#include <vector>

#include "sim/files/text_file.hpp"
#include "sim/import/topology/nccl_graphs.hpp"
#include "sim/import/topology/nccl_topology.hpp"

namespace gradway {

/// What NCCL writes of a node: its topology, or the graphs that it searched in it.
struct NcclXml {
  std::variant<NcclTopology, std::vector<NcclGraph>> content;
  Where where;  ///< the first element
};

/// @throws ConfigError at what is no XML, or none of NCCL's
NcclXml read_nccl_xml(TextFile text);

}  // namespace gradway
