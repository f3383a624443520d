// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/base/units.hpp"
#include "sim/cost/nccl_settings.hpp"
#include "sim/graph/workload_graph.hpp"
#include "sim/platform/gpu.hpp"

namespace gradway {

/// How a GPU reaches the next one of a ring or tree, as NCCL names it.
enum class Transport { none, p2p, shm, net };

/// One measured collective. Its bus bandwidth replaces NCCL's nominal one for the same transport.
struct CollectiveSample {
  CollectiveKind kind = CollectiveKind::all_reduce;
  Transport transport = Transport::shm;
  int ranks = 0;
  Bytes size{};  ///< the buffer on each rank (all-gather, reduce-scatter: the large one)
  Seconds time{};
  std::string source;
};

/// A measured time of something of one size.
struct SizedTime {
  Bytes size{};
  Seconds time{};
};

/// How far predictions are from measurements: |predicted / measured - 1|.
struct FitError {
  double median = 0;
  double worst = 0;
};

/// Measured times of one collective by size, made monotone: the time never falls with the size.
struct CollectiveTable {
  Transport transport = Transport::p2p;
  CollectiveKind kind = CollectiveKind::all_reduce;
  std::optional<Algorithm> algorithm;  ///< that was forced; empty: any, as NCCL chose
  std::optional<Protocol> protocol;    ///< the same
  int ranks = 0;
  int samples = 0;                                 ///< it was fitted to; 0 if it was predicted
  Seconds latency{};                               ///< the time of the smallest sizes
  BytesPerSecond bandwidth{};                      ///< of the buffer, latency included, at the largest size
  std::optional<FitError> residual;                ///< of the samples but for the outliers
  std::optional<FitError> residual_with_outliers;  ///< of all samples
  std::optional<FitError> interpolation;           ///< of each inner size, predicted from the others
  std::string predicted_from;                      ///< what stands for a measurement; empty: measured
  std::vector<SizedTime> points;                   ///< at least one; sizes ascend, times do not fall
  std::vector<SizedTime> outliers;                 ///< samples that the points leave out
};

/// A way that copies go.
enum class LinkRole { to_gpu, from_gpu, pageable_to_gpu, peer, host_memory };

/// What copies over a link reach.
struct LinkRate {
  LinkRole role = LinkRole::to_gpu;
  int gpus = 1;  ///< that copied at the same time
  BytesPerSecond
      bandwidth{};    ///< of the largest copy; host memory: of all copies, at the pace of the slowest
  Seconds latency{};  ///< of the smallest copy; 0 if not known
  Bytes smallest{};
  Bytes largest{};
  std::string source;
};

/// What matrix products of a size class reach.
struct MatrixRate {
  Precision precision = Precision::fp32;
  bool large = true;  ///< square products of 4096 and more; else of at most 1024
  FlopsPerSecond rate{};
};

/// What single kernels reach; empty where nothing was measured.
struct KernelRates {
  std::vector<MatrixRate> matrix;
  std::optional<BytesPerSecond> stream;    ///< of the memory: copies, additions, scalings, narrowing casts
  std::optional<BytesPerSecond> widen;     ///< of the memory: casts from 16 to 32 bits
  std::optional<Seconds> smallest_kernel;  ///< duration of a kernel with next to nothing to do
  std::optional<Seconds> launch_cost;      ///< of the CPU, a kernel
};

/// What a fit was made from.
struct SampleOrigin {
  std::string digest;              ///< of the contents of the files, in their order
  std::vector<std::string> files;  ///< without their folders
};

/// What kernels and collectives on one GPU cost each other while they run side by side.
struct SideBySide {
  Transport transport = Transport::p2p;   ///< of the collectives
  Precision precision = Precision::fp32;  ///< of the kernels
  int ranks = 0;                          ///< it was measured on; 0: not said
  int channels = 0;                       ///< multiprocessors that the collectives took; 0: not said
  double kernel_slowdown =
      1;  ///< beyond what the taken multiprocessors explain, or all of it without `channels`
  double collective_slowdown = 1;  ///< of what the collective's own SMs can move; not of a shared link's rate
  std::string measured_on;         ///< another node, if it was not this one
  std::string source;
};

/// Measured facts about one node, which replace first principles where they exist.
struct Calibration {
  std::string name;
  std::string source;
  std::string date;  ///< year-month-day; empty if nobody said it
  std::vector<CollectiveSample> collectives;
  std::vector<CollectiveTable> tables;
  std::vector<LinkRate> links;
  KernelRates kernels;
  std::vector<SideBySide> side_by_side;
  std::optional<SampleOrigin> samples;
};

}  // namespace gradway
