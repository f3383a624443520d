// SPDX-License-Identifier: Apache-2.0
#include "sim/import/topology/nccl_xml.hpp"

#include "sim/files/xml_file.hpp"

namespace gradway {

NcclXml read_nccl_xml(TextFile text) {
  const XmlFile file{std::move(text)};
  const bool are_graphs = std::string_view{file.root().name()} == "graphs";
  if (are_graphs) return {read_nccl_graphs(file), file.at(file.root())};
  return {read_nccl_topology(file), file.at(file.root())};
}

}  // namespace gradway
