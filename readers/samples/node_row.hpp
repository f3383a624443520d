// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/base/problem.hpp"
#include "sim/base/units.hpp"

namespace gradway {

class JsonRow;
struct Samples;

/// A GPU as described by the driver; unknown values are empty.
struct NodeGpu {
  std::string name;  ///< Such as "NVIDIA H200".
  std::optional<Bytes> memory;
  std::optional<int> multiprocessors;
  std::optional<int> compute_capability;  ///< 89 for 8.9.
  std::optional<double> memory_clock;     ///< In Hz.
  std::optional<int> memory_bus;          ///< In bits.
  std::optional<int> nvlinks;
  std::optional<BytesPerSecond> nvlink_rate;  ///< Rate of one link in one direction.
  std::optional<int> numa_node;

  bool operator==(const NodeGpu&) const = default;
};

/// The row of kind `node`: what was measured.
struct NodeRow {
  std::string probe;  ///< Version of the program. Unknown texts are empty.
  std::string date;
  std::string driver;
  std::string nccl;
  std::string torch;  ///< If measured by calibration/torch instead of the probe.
  std::string cuda;
  std::string cudnn;
  std::string cpu;
  std::string cpu_vendor;        ///< As spelled by CPUs (GenuineIntel, AuthenticAMD), or ARM.
  std::optional<int> cpu_model;  ///< Model of an Intel CPU of family 6, from NCCL's topology.
  std::vector<NodeGpu> gpus;
  int nodes = 1;                      ///< Number of nodes.
  std::optional<std::string> matrix;  ///< The output of `nvidia-smi topo -m`.
  bool nvls_was_off = false;          ///< NCCL_NVLS_ENABLE was 0.
  bool names_nvswitch = false;        ///< NCCL's topology contains links to an NVSwitch.
  Where where;
  Where matrix_where;

  bool is_of_same_node(const NodeRow& node) const;
};

/// The source of a file made from the row's samples: the program, the day, the GPUs and versions.
std::string source_text(const NodeRow& node);

/// Adds the row to the samples, unless they contain one of the same node.
/// @throws ConfigError if it is invalid
void add_node_row(const JsonRow& row, Samples& samples);

}  // namespace gradway
