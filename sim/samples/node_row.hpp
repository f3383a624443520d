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

/// A GPU as the driver describes it; empty: it did not say.
struct NodeGpu {
  std::string name;  ///< "NVIDIA H200"
  std::optional<Bytes> memory;
  std::optional<int> multiprocessors;
  std::optional<int> compute_capability;  ///< 89 for 8.9
  std::optional<double> memory_clock;     ///< Hz
  std::optional<int> memory_bus;          ///< bits
  std::optional<int> nvlinks;
  std::optional<BytesPerSecond> nvlink_rate;  ///< of one link in one direction
  std::optional<int> numa_node;

  bool operator==(const NodeGpu&) const = default;
};

/// The row of a file of samples that says what was measured: kind `node`.
struct NodeRow {
  std::string probe;  ///< version of the program; these and other texts are empty if not known
  std::string date;
  std::string driver;
  std::string nccl;
  std::string torch;  ///< if calibration/torch measured, in place of the probe
  std::string cuda;
  std::string cudnn;
  std::string cpu;
  std::string cpu_vendor;        ///< as CPUs spell it: GenuineIntel, AuthenticAMD; ARM
  std::optional<int> cpu_model;  ///< of an Intel CPU of family 6, as NCCL's topology says
  std::vector<NodeGpu> gpus;
  int nodes = 1;                      ///< that took part
  std::optional<std::string> matrix;  ///< the text of `nvidia-smi topo -m`
  bool nvls_was_off = false;          ///< NCCL_NVLS_ENABLE=0
  bool names_nvswitch = false;        ///< NCCL's topology has links to one
  Where where;
  Where matrix_where;

  bool is_of_same_node(const NodeRow& other) const;
};

/// What a file made from the row's samples says of its source: the program, the day, the GPUs and versions.
std::string source_text(const NodeRow& node);

/// Understands the row and adds it to the samples, unless they have one of the same node.
/// @throws ConfigError at what is wrong
void add_node_row(const JsonRow& row, Samples& samples);

}  // namespace gradway
