// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/base/problem.hpp"

namespace gradway {

/// NVLinks of a GPU to one other end.
struct NcclNvlink {
  enum class To { gpu, nvswitch, cpu };
  To to = To::gpu;
  std::string target;  ///< its bus, in small letters
  int count = 0;
  Where where;
};

/// What the file says of a GPU beside its place.
struct NcclGpu {
  std::optional<int> dev;  ///< its number
  std::optional<int> sm;   ///< compute capability, 89 for 8.9
  std::vector<NcclNvlink> nvlinks;
  bool has_c2c = false;  ///< a link to a Grace CPU
};

/// A port of a NIC.
struct NcclNet {
  std::string name;
  std::optional<double> speed;  ///< of the wire, Mb/s
};

/// A device on PCIe.
struct NcclPci {
  enum class Kind { gpu, nic, bridge, other, unnamed };  ///< unnamed: nothing tells, and nothing hangs on it
  Kind kind = Kind::unnamed;
  std::string bus;                  ///< in small letters
  std::optional<int> device;        ///< its number, if NVIDIA made it
  std::optional<double> transfers;  ///< GT/s of its link
  std::optional<int> lanes;
  NcclGpu gpu;
  std::vector<NcclNet> nets;
  std::vector<NcclPci> children;
  Where where;
};

/// A NUMA node.
struct NcclCpu {
  std::optional<int> numa_node;
  std::string vendor;        ///< as CPUs spell it; ARM
  std::optional<int> model;  ///< of an Intel CPU of family 6
  std::string host;          ///< tells nodes apart; may be empty
  std::vector<NcclPci> devices;
  std::vector<NcclNet> nets;  ///< of NICs that hang on nothing that is known
};

/// NCCL's own description of a node (NCCL_TOPO_DUMP_FILE), or what a cloud gives NCCL in its stead
/// (NCCL_TOPO_FILE), which may have little more than the nesting.
struct NcclTopology {
  std::vector<NcclCpu> cpus;
  std::vector<std::string> unknown;  ///< names of elements that were left out
  bool is_dump = false;              ///< it has elements <gpu>: NCCL wrote it on the node
  Where where;
};

class XmlFile;

/// @throws ConfigError at what is no such file
/// @source NCCL 2.30.7, src/graph/xml.cc and topo.cc
NcclTopology read_nccl_topology(const XmlFile& file);

}  // namespace gradway
