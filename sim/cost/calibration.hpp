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

/// NCCL's transport between adjacent GPUs of a ring or tree.
enum class Transport { none, p2p, shm, net };

/// One measured collective. Its bus bandwidth replaces NCCL's nominal one for the same transport.
struct CollectiveSample {
  CollectiveKind kind = CollectiveKind::all_reduce;
  Transport transport = Transport::shm;
  int ranks = 0;
  Bytes size{};  ///< size of the buffer on each rank (all-gather, reduce-scatter: of the larger one)
  Seconds time{};
  std::string source;
  /// Upper limit of NCCL's nominal bandwidth between two GPUs of a socket, by which it chooses algorithms.
  /// Empty: as on the platform that uses the sample.
  std::optional<BytesPerSecond> nominal{};
  std::string measured_on{};  ///< the platform of the measurement; empty: the one that uses the sample

  bool operator==(const CollectiveSample&) const = default;
};

/// A measured time for one size.
struct SizedTime {
  Bytes size{};
  Seconds time{};
};

/// Measured times of one collective by size, corrected such that they never decrease with the size.
struct CollectiveTable {
  Transport transport = Transport::p2p;
  CollectiveKind kind = CollectiveKind::all_reduce;
  std::optional<Algorithm> algorithm;  ///< forced algorithm; empty: chosen by NCCL
  std::optional<Protocol> protocol;    ///< forced protocol; empty: chosen by NCCL
  int ranks = 0;
  int nodes = 1;                                   ///< number of nodes of the ranks
  int samples = 0;                                 ///< number of fitted samples; 0 if it was predicted
  Seconds latency{};                               ///< the time of the smallest sizes
  BytesPerSecond bandwidth{};                      ///< of the buffer, latency included, at the largest size
  std::optional<FitError> residual;                ///< of the samples without outliers
  std::optional<FitError> residual_with_outliers;  ///< of all samples
  std::optional<FitError> interpolation;           ///< of each inner size, predicted from the others
  std::optional<FitError> spread;                  ///< of repetitions: their 10th and 90th percentile
  std::string predicted_from;                      ///< what it was predicted from; empty: measured
  std::optional<double> uncertainty;               ///< after adaptation: half width that holds 90 % of times
  std::vector<SizedTime> points;                   ///< at least one; sizes ascend, times do not decrease
  std::vector<SizedTime> outliers;                 ///< samples that the points ignore
};

/// The samples that a calibration was fitted to.
struct SampleOrigin {
  std::string digest;              ///< of the contents of the files, in order
  std::vector<std::string> files;  ///< names without folders
};

/// Measured slow-down of kernels and collectives that run at the same time on a GPU.
struct ContentionFactors {
  Transport transport = Transport::p2p;   ///< of the collectives
  Precision precision = Precision::fp32;  ///< of the kernels
  int ranks = 0;                          ///< ranks of the measurement; 0: unknown
  int channels = 0;                       ///< multiprocessors that the collectives used; 0: unknown
  /// In addition to the effect of the multiprocessors that collectives use. Without `channels`: in total.
  double kernel_slowdown = 1;
  /// Of the rate that the collective's own multiprocessors can move, not of the rate of a shared link.
  double collective_slowdown = 1;
  std::string measured_on;  ///< the node of the measurement, if it is another one
  std::string source;
};

/// Errors of predictions for samples that were held out of the fit (cross-validation).
struct HoldoutError {
  std::string what;  ///< a group of samples
  int rows = 0;      ///< number of samples that were held out
  FitError error;    ///< of their predictions
};

/// Times of a calibration that were scaled to measurements of another machine of the same kind.
struct AdaptedPart {
  std::string what;                   ///< "SHM on 4 ranks", "copies to_gpu"
  int rows = 0;                       ///< number of measurements; 0: scaled as similar times
  double fixed = 1;                   ///< factor on the part of times that does not depend on the size
  double moving = 1;                  ///< factor on the time per byte
  std::optional<FitError> before;     ///< of the rows, with the times before adaptation
  std::optional<FitError> after;      ///< of each row, predicted from the other rows
  std::optional<double> uncertainty;  ///< half width that holds 90 % of further rows; empty: too few rows
};

/// The origin of a calibration that was adapted to a machine.
struct Adaptation {
  std::string from;    ///< name of the original calibration
  std::string digest;  ///< of its samples; empty: unknown
  std::vector<AdaptedPart> parts;
};

/// Measured figures of one kind of node. They take precedence over first principles.
struct Calibration {
  std::string name;
  std::string source;
  std::string date;  ///< year-month-day; empty if unknown
  std::vector<CollectiveSample> collectives;
  std::vector<CollectiveTable> tables;
  std::vector<LinkRate> links;
  KernelRates kernels;
  std::vector<ContentionFactors> contention;
  std::vector<HoldoutError> holdout_errors;
  std::optional<SampleOrigin> samples;
  std::optional<Adaptation> adapted;        ///< if present, `samples` are the measurements it was adapted to
  std::optional<KernelTimes> kernel_times;  ///< empty in a scenario, which holds them as OperationCosts
};

}  // namespace gradway
