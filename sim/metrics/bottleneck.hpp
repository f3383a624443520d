// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <variant>

#include "sim/base/units.hpp"
#include "sim/nccl/far_network.hpp"
#include "sim/plan/input/batch_cost.hpp"
#include "sim/platform/speeds.hpp"

namespace gradway {

/// Limits of a step. Each `share` is a fraction of the step's time.
namespace bottleneck {

/// The step takes no time.
struct EmptyStep {
  bool operator==(const EmptyStep&) const = default;
};

/// Kernels of the forward and the backward pass run for most of the step.
struct Kernels {
  std::string gpu;
  double share = 0;

  bool operator==(const Kernels&) const = default;
};

/// The optimizer, which is bound by memory bandwidth, takes most of the step.
struct Optimizer {
  std::string gpu;
  double share = 0;

  bool operator==(const Optimizer&) const = default;
};

/// A link or memory is saturated while collectives run.
struct FullLink {
  std::string name;
  bool is_shared = false;  ///< with a neighbour's traffic
  double spread = 1;       ///< share of the uplinks' joint rate that hashed flows reach

  bool operator==(const FullLink&) const = default;
};

/// No link is saturated; the limit is the latency of the collectives' steps.
struct Latency {
  std::string busiest;                   ///< link
  double used = 0;                       ///< fraction of the busiest link while collectives run
  std::optional<double> of_collectives;  ///< share of latency in the collectives' time; NCCL only

  bool operator==(const Latency&) const = default;
};

/// No link is saturated; the limit is NCCL's channels, which copy the data.
struct Channels {
  std::string busiest;                    ///< link
  double used = 0;                        ///< fraction of the busiest link while collectives run
  HardwarePart part = HardwarePart::gpu;  ///< through which the channels copy
  std::string transport;                  ///< "SHM"
  FarLimit far = FarLimit::none;          ///< between far nodes, if that limits the channels

  bool operator==(const Channels&) const = default;
};

/// Communication is exposed for most of the step.
struct Communication {
  double share = 0;
  Bytes sent{};                                                     ///< by each GPU, a step
  BytesPerSecond rate{};                                            ///< of each GPU while collectives run
  std::variant<std::monostate, FullLink, Latency, Channels> limit;  ///< empty if no link is used

  bool operator==(const Communication&) const = default;
};

enum class LoaderLimit {
  storage,           ///< reads at its full rate
  cores,             ///< of the node are all busy
  training_process,  ///< makes its batches itself, because it has no workers
  workers,           ///< each takes longer for a batch than the steps in between
  stage,             ///< a stage of a loader with threads takes longer for a batch than a step
};

/// The GPU waits for batches of its loader.
struct Loader {
  double share = 0;
  LoaderLimit limit = LoaderLimit::workers;
  int workers = 0;  ///< or threads
  Seconds batch{};  ///< time in which a worker, or with the limit `stage` the stage, makes one
  LoaderKind kind = LoaderKind::pytorch;
  LoaderStage stage = LoaderStage::read;  ///< the longest one
  double of_batch = 0;                    ///< its share of `batch`
  double network_cores = 0;               ///< that TCP takes

  bool operator==(const Loader&) const = default;
};

/// Decoding on the GPU takes a large part of the step from training.
struct GpuDecoding {
  std::string gpu;
  double share = 0;

  bool operator==(const GpuDecoding&) const = default;
};

enum class Wait {
  input_copy,       ///< of the step's input to the GPU
  launches,         ///< of kernels by the CPU
  background_copy,  ///< holds the copy engine
  prefetch,         ///< of inputs of later steps holds the copy engine
  other,            ///< ranks, or latencies
};

/// The GPU waits, for another reason than communication or a loader, for most of the step.
struct Idle {
  Wait wait = Wait::other;
  double share = 0;

  bool operator==(const Idle&) const = default;
};

}  // namespace bottleneck

/// The limit of the largest part of the step.
using Bottleneck =
    std::variant<bottleneck::EmptyStep, bottleneck::Kernels, bottleneck::Optimizer, bottleneck::Communication,
                 bottleneck::Loader, bottleneck::Idle, bottleneck::GpuDecoding>;

}  // namespace gradway
