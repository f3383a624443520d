// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <map>
#include <string>
#include <vector>

#include "readers/samples/copy_way.hpp"
#include "readers/samples/node_row.hpp"
#include "sim/cost/calibration.hpp"
#include "sim/cost/kernel_times.hpp"

namespace gradway {

/// Percentiles of the repetitions of a measurement.
struct Spread {
  Seconds low{};   ///< 10th percentile.
  Seconds high{};  ///< 90th percentile.
};

/// One size of a collective, measured alone.
struct CollectiveRow {
  CollectiveKind kind = CollectiveKind::all_reduce;
  Transport transport = Transport::p2p;
  std::optional<Algorithm> algorithm;  ///< Set if forced by NCCL_ALGO and NCCL_PROTO.
  std::optional<Protocol> protocol;
  int ranks = 0;
  Bytes size{};
  Seconds time{};
  int nodes = 1;
  std::optional<Spread> spread{};
};

/// Consecutive all-reduces and matrix products, alone or concurrent. Times are per call.
struct ContentionRow {
  Transport transport = Transport::p2p;
  int ranks = 0;
  Precision precision = Precision::fp32;  ///< Precision of the products.
  int side = 0;                           ///< Contender of the square matrices.
  bool together = false;
  Seconds kernel_time{};
  int kernels = 0;
  Seconds collective_time{};
  int collectives = 0;
  Bytes size{};      ///< Size of an all-reduce.
  int channels = 0;  ///< Number forced on NCCL; 0 if NCCL chose.
};

/// A copy alone.
struct CopyRow {
  LinkRole role = LinkRole::to_gpu;
  Bytes size{};
  Seconds time{};
  /// Source and destination; a single GPU copies to or from host memory, or its peer is unknown.
  std::vector<int> gpus{};
};

/// Several copies of one size at once.
struct PatternRow {
  std::string name;
  std::vector<CopyWay> copies;  ///< Empty for unknown patterns.
  Bytes size{};                 ///< Size of one copy.
  std::vector<Seconds> times;   ///< Time of each copy.
  Seconds wall{};               ///< Time of all copies; 0 if not measured.

  /// Time until the last copy is done. It is longer than any copy's own time if an engine serialises the
  /// copies in a changing order.
  Seconds slowest() const;
};

/// A matrix product of an m x k and a k x n matrix.
struct MatrixRow {
  Arithmetic arithmetic = Arithmetic::fp32;
  double m = 0;
  double n = 0;
  double k = 0;
  Seconds time{};

  Flops work() const { return Flops{2 * m * n * k}; }
};

/// A memory-bound kernel.
struct MemoryRow {
  MemoryKernel kernel = MemoryKernel::copy_fp32;
  Bytes traffic{};  ///< Bytes read and written.
  Seconds time{};
};

/// An optimizer's step.
struct OptimizerRow {
  Optimizer optimizer = Optimizer::sgd;
  double parameters = 0;
  int tensors = 0;
  Seconds time{};

  Bytes traffic() const;
};

/// Attention, forward.
struct AttentionRow {
  Arithmetic arithmetic = Arithmetic::fp32;
  double batch = 0;
  double heads = 0;
  double length = 0;  ///< Tokens of a sequence.
  double head = 0;    ///< Dimension of a head.
  bool causal = false;
  Seconds time{};

  /// Operations of both products; a causal mask halves them.
  Flops work() const;
};

/// A GPU that computes while all others do, too: the last part of a load of some seconds.
struct LoadRow {
  int gpu = 0;
  Seconds time{};      ///< of a product
  double clock = 0;    ///< of the multiprocessors, in Hz
  double celsius = 0;  ///< its temperature
  double watts = 0;
};

/// Bytes that the host moves: copies by all cores, or a file that is written or read.
struct HostRow {
  std::string operation;  ///< "host memory", "disk write", "disk read"
  Bytes bytes{};
  Seconds time{};
};

/// Measurements of one node.
struct Samples {
  std::vector<CollectiveRow> collectives;
  std::vector<ContentionRow> contention;
  std::vector<CopyRow> copies;
  std::vector<PatternRow> patterns;
  std::vector<MatrixRow> matrix;
  std::vector<MemoryRow> memory;
  std::vector<OptimizerRow> optimizers;
  std::vector<AttentionRow> attention;
  std::vector<KernelTime> kernel_times;
  std::vector<LoadRow> loads;
  std::vector<HostRow> host;
  std::array<std::vector<Seconds>, launch_cost_count> launches;  ///< By `LaunchCost`.
  std::vector<NodeRow> nodes;                                    ///< Measured nodes; equal nodes once.
  std::map<std::string, int> unused;  ///< Number of known rows that no fit uses, by kind.
  int noisy = 0;                      ///< Rows whose repetitions did not converge.
  std::vector<std::string> remarks;   ///< Remarks of the probe, one line each.
  SampleOrigin origin;
};

}  // namespace gradway
