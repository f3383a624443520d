// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "sim/cost/calibration.hpp"
#include "sim/fit/copy_ends.hpp"
#include "sim/fit/node_row.hpp"

namespace gradway {

/// One size of a collective, measured alone.
struct CollectiveRow {
  CollectiveKind kind = CollectiveKind::all_reduce;
  Transport transport = Transport::p2p;
  std::optional<Algorithm> algorithm;  ///< if NCCL_ALGO and NCCL_PROTO forced it
  std::optional<Protocol> protocol;
  int ranks = 0;
  Bytes size{};
  Seconds time{};
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
  Bytes size{};  ///< of an all-reduce
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
  int both_ways = 0;               ///< that many GPUs copied to and from host memory; 0: another pattern
  Bytes size{};                    ///< of one copy
  std::vector<Seconds> times;      ///< of each copy
  std::vector<CopyEnds> copies{};  ///< in the same order; empty: not said
};

/// A matrix product of an m x k and a k x n matrix.
struct MatrixRow {
  Precision precision = Precision::fp32;
  double m = 0;
  double n = 0;
  double k = 0;
  Seconds time{};

  Flops work() const { return Flops{2 * m * n * k}; }
};

/// A kernel that the memory bounds.
struct MemoryRow {
  bool widens = false;  ///< a cast from 16 to 32 bits
  Bytes traffic{};      ///< read and written
  Seconds time{};
};

/// What the probes measured on one node.
struct Samples {
  std::vector<CollectiveRow> collectives;
  std::vector<ContentionRow> contention;
  std::vector<CopyRow> copies;
  std::vector<PatternRow> patterns;
  std::vector<MatrixRow> matrix;
  std::vector<MemoryRow> memory;
  std::vector<Seconds> launches;
  std::vector<NodeRow> nodes;         ///< at most one: others are alike
  std::map<std::string, int> unused;  ///< rows that are understood but that no fit uses, by what they are
  SampleOrigin origin;
};

}  // namespace gradway
