// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <map>
#include <string>
#include <vector>

#include "sim/cost/calibration.hpp"
#include "sim/cost/kernel_times.hpp"
#include "sim/samples/copy_way.hpp"
#include "sim/samples/node_row.hpp"

namespace gradway {

/// Where the repetitions of a measurement lie.
struct Spread {
  Seconds low{};   ///< their 10th percentile
  Seconds high{};  ///< their 90th
};

/// One size of a collective, measured alone.
struct CollectiveRow {
  CollectiveKind kind = CollectiveKind::all_reduce;
  Transport transport = Transport::p2p;
  std::optional<Algorithm> algorithm;  ///< if NCCL_ALGO and NCCL_PROTO forced it
  std::optional<Protocol> protocol;
  int ranks = 0;
  Bytes size{};
  Seconds time{};
  int nodes = 1;
  std::optional<Spread> spread{};
};

/// All-reduces and matrix products, each a number of times in a row, alone or side by side. Times are of one.
struct ContentionRow {
  Transport transport = Transport::p2p;
  int ranks = 0;
  Precision precision = Precision::fp32;  ///< of the products
  int side = 0;                           ///< of the square products
  bool together = false;
  Seconds kernel_time{};
  int kernels = 0;
  Seconds collective_time{};
  int collectives = 0;
  Bytes size{};      ///< of an all-reduce
  int channels = 0;  ///< that were forced; 0: as NCCL chose
};

/// A copy alone.
struct CopyRow {
  LinkRole role = LinkRole::to_gpu;
  Bytes size{};
  Seconds time{};
  std::vector<int> gpus{};  ///< from and to; one: host memory is the other end, or nothing is said of it
};

/// Several copies of one size at once.
struct PatternRow {
  std::string name;
  std::vector<CopyWay> copies;  ///< empty: a pattern that gradway does not know
  Bytes size{};                 ///< of one copy
  std::vector<Seconds> times;   ///< of each copy
  Seconds wall{};               ///< of all of them, if it was measured; 0: not said

  /// Until the last one is done: longer than any copy's own time where an engine takes them one by one, in an
  /// order that changes.
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

/// A kernel that the memory bounds.
struct MemoryRow {
  MemoryKernel kernel = MemoryKernel::copy_fp32;
  Bytes traffic{};  ///< read and written
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
  double length = 0;  ///< of the sequence
  double head = 0;    ///< its dimension
  bool causal = false;
  Seconds time{};

  /// Of both products; a causal mask leaves half of each.
  Flops work() const;
};

/// What the probes measured on one node.
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
  std::array<std::vector<Seconds>, launch_cost_count> launches;  ///< by `LaunchCost`
  std::vector<NodeRow> nodes;         ///< that were measured; those that are alike once
  std::map<std::string, int> unused;  ///< rows that are understood but that no fit uses, by what they are
  int noisy = 0;                      ///< rows whose repetitions did not settle
  std::vector<std::string> remarks;   ///< of the probe, one line each
  SampleOrigin origin;
};

}  // namespace gradway
