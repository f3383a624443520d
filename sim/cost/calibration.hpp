// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/base/units.hpp"
#include "sim/cost/kernel_times.hpp"
#include "sim/cost/measured_rates.hpp"
#include "sim/cost/nccl_settings.hpp"
#include "sim/platform/gpu.hpp"
#include "sim/workload/collective_kind.hpp"
#include "sim/workload/profile.hpp"

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
  /// What NCCL took a way between two GPUs of one socket for, at most: by such figures, not by what was
  /// measured, it chooses. Empty: whatever the platform that takes the sample says.
  std::optional<BytesPerSecond> nominal{};

  bool operator==(const CollectiveSample&) const = default;
};

/// A measured time of something of one size.
struct SizedTime {
  Bytes size{};
  Seconds time{};
};

/// Measured times of one collective by size, made monotone: the time never falls with the size.
struct CollectiveTable {
  Transport transport = Transport::p2p;
  CollectiveKind kind = CollectiveKind::all_reduce;
  std::optional<Algorithm> algorithm;  ///< that was forced; empty: any, as NCCL chose
  std::optional<Protocol> protocol;    ///< the same
  int ranks = 0;
  int nodes = 1;                                   ///< they were on
  int samples = 0;                                 ///< it was fitted to; 0 if it was predicted
  Seconds latency{};                               ///< the time of the smallest sizes
  BytesPerSecond bandwidth{};                      ///< of the buffer, latency included, at the largest size
  std::optional<FitError> residual;                ///< of the samples but for the outliers
  std::optional<FitError> residual_with_outliers;  ///< of all samples
  std::optional<FitError> interpolation;           ///< of each inner size, predicted from the others
  std::optional<FitError> spread;                  ///< of the repetitions: their 10th and 90th percentile
  std::string predicted_from;                      ///< what stands for a measurement; empty: measured
  std::optional<double> uncertainty;               ///< adapted to a machine: nine of ten times are within it
  std::vector<SizedTime> points;                   ///< at least one; sizes ascend, times do not fall
  std::vector<SizedTime> outliers;                 ///< samples that the points leave out
};

/// What a fit was made from.
struct SampleOrigin {
  std::string digest;              ///< of the contents of the files, in their order
  std::vector<std::string> files;  ///< without their folders
};

/// What kernels and collectives on one GPU cost each other while they run side by side.
struct ContentionFactors {
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

/// What a fit without some of the samples said of just these samples.
struct HeldBack {
  std::string what;  ///< a group of samples
  int rows = 0;      ///< that were held back
  FitError error;    ///< of their predictions
};

/// Some times of a calibration, scaled to what another machine of the same kind measured.
struct AdaptedPart {
  std::string what;                ///< "SHM on 4 ranks", "copies to_gpu"
  int rows = 0;                    ///< that were measured; 0: none of just these times, scaled as their like
  double fixed = 1;                ///< times as long takes what no bytes explain
  double moving = 1;               ///< times as long takes each byte
  std::optional<FitError> before;  ///< of the rows, by the times as they were
  std::optional<FitError> after;   ///< of each row, by what the other rows tell
  std::optional<double> uncertainty;  ///< nine of ten further rows are within it; nothing: too few to tell
};

/// Where a calibration comes from that was adapted to a machine.
struct Adaptation {
  std::string from;    ///< the calibration's name
  std::string digest;  ///< of its samples; empty: none were said
  std::vector<AdaptedPart> parts;
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
  std::vector<ContentionFactors> contention;
  std::vector<HeldBack> held_back;
  std::optional<SampleOrigin> samples;
  std::optional<Adaptation> adapted;        ///< then `samples` are those that it was adapted to
  std::optional<KernelTimes> kernel_times;  ///< not in a scenario, which shares them
};

}  // namespace gradway
