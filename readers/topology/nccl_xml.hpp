// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "sim/base/problem.hpp"
#include "sim/files/text_file.hpp"

namespace gradway {

class XmlFile;

/// The result of NCCL's search for an algorithm.
struct NcclGraph {
  std::string algorithm;  ///< Such as ring or tree.
  std::string pattern;    ///< Pattern in which a channel connects the GPUs.
  int channels = 0;
  double speed_intra = 0;  ///< GB/s per channel inside the node.
  double speed_inter = 0;  ///< GB/s per channel between nodes.
  std::string type_intra;  ///< Longest type of path of a channel inside the node: NVL, PIX, SYS ...
  std::string type_inter;
  /// The GPUs and NICs of each channel in order, "0 1 2 3"; equal channels once, with their number.
  std::vector<std::pair<std::string, int>> orders;
};

/// Reads the elements of NCCL_GRAPH_DUMP_FILE. @throws ConfigError if it is not such a file
/// @source NCCL 2.30.7, src/graph/search.cc
std::vector<NcclGraph> read_nccl_graphs(const XmlFile& file);

/// The NVLinks, or XGMI links of AMD, from a GPU to one other device.
struct NcclNvlink {
  enum class End { gpu, nvswitch, cpu };
  End to = End::gpu;
  std::string target;  ///< Its bus id, in lower case.
  int count = 0;
  Where where;
};

/// Data of a GPU.
struct NcclGpu {
  std::optional<int> dev;  ///< Its number.
  std::optional<int> sm;   ///< Compute capability, 89 for 8.9; empty for AMD.
  std::vector<NcclNvlink> nvlinks;
  bool has_c2c = false;  ///< It has a link to a Grace CPU.
};

/// A port of a NIC.
struct NcclNet {
  std::string name;
  std::optional<double> speed;  ///< In Mb/s.
};

/// A device on PCIe.
struct NcclPci {
  enum class Kind { gpu, nic, bridge, other, unnamed };  ///< unnamed: of unknown kind, without children.
  Kind kind = Kind::unnamed;
  std::string bus;                  ///< In lower case.
  std::optional<int> device;        ///< PCI device number, for devices by NVIDIA and AMD.
  std::optional<double> transfers;  ///< GT/s of its link.
  std::optional<int> lanes;
  NcclGpu gpu;
  std::vector<NcclNet> nets;
  std::vector<NcclPci> children;
  Where where;
};

/// A NUMA node.
struct NcclCpu {
  std::optional<int> numa_node;
  std::string vendor;        ///< As spelled by the CPU, or ARM.
  std::optional<int> model;  ///< Model number of an Intel CPU of family 6.
  std::string host;          ///< Distinguishes nodes; may be empty.
  std::vector<NcclPci> devices;
  std::vector<NcclNet> nets;  ///< Ports of NICs without a known parent.
};

/// NCCL's description of a node (NCCL_TOPO_DUMP_FILE), or the file that a cloud provides to NCCL
/// (NCCL_TOPO_FILE), which may contain little more than the nesting.
struct NcclTopology {
  std::vector<NcclCpu> cpus;
  std::vector<std::string> unknown;  ///< Names of ignored elements.
  bool is_dump = false;              ///< It has <gpu> elements: NCCL wrote it on the node.
  Where where;
};

/// @throws ConfigError if it is not such a file
/// @source NCCL 2.30.7, src/graph/xml.cc and topo.cc; github.com/ROCm/rccl, tools/topo_expl/models
NcclTopology read_nccl_topology(const XmlFile& file);

/// A file that NCCL writes: a node's topology, or the graphs found in it.
struct NcclXml {
  std::variant<NcclTopology, std::vector<NcclGraph>> content;
  Where where;  ///< Place of the first element.
};

/// @throws ConfigError if it is not XML, or not written by NCCL
NcclXml read_nccl_xml(TextFile text);

}  // namespace gradway
