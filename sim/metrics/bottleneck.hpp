// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <variant>

#include "sim/base/units.hpp"
#include "sim/platform/speeds.hpp"

namespace gradway {

/// What can limit a step. Each `share` is a fraction of the step's time.
namespace bottleneck {

/// The step takes no time.
struct Nothing {
  bool operator==(const Nothing&) const = default;
};

/// Kernels of the forward and the backward pass run for most of the step.
struct Kernels {
  std::string gpu;
  double share = 0;

  bool operator==(const Kernels&) const = default;
};

/// The optimizer, which moves much and computes little, takes most of the step.
struct Optimizer {
  std::string gpu;
  double share = 0;

  bool operator==(const Optimizer&) const = default;
};

/// A link or memory is saturated while collectives run.
struct FullLink {
  std::string name;
  bool is_shared = false;  ///< a neighbour's traffic wants it as well

  bool operator==(const FullLink&) const = default;
};

/// No link is saturated, and the latencies of the collectives' steps are the limit.
struct Latency {
  std::string busiest;                   ///< link
  double used = 0;                       ///< fraction of the busiest link while collectives run
  std::optional<double> of_collectives;  ///< fraction of the collectives' time that is latency; NCCL only

  bool operator==(const Latency&) const = default;
};

/// No link is saturated, and the channels of NCCL, which copy the data, are the limit.
struct Channels {
  std::string busiest;                    ///< link
  double used = 0;                        ///< fraction of the busiest link while collectives run
  HardwarePart part = HardwarePart::gpu;  ///< that the channels copy through
  std::string transport;                  ///< "SHM"

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
  workers,           ///< each needs longer for a batch than the steps that it has for it
};

/// The GPU waits for batches of its loader.
struct Loader {
  double share = 0;
  LoaderLimit limit = LoaderLimit::workers;
  int workers = 0;
  Seconds batch{};  ///< time in which a worker makes one

  bool operator==(const Loader&) const = default;
};

enum class Wait {
  input_copy,       ///< of the step's input to the GPU
  launches,         ///< of kernels by the CPU
  background_copy,  ///< holds the copy engine
  prefetch,         ///< of inputs of later steps holds the copy engine
  other,            ///< ranks, or latencies
};

/// The GPU waits for most of the step.
struct Waiting {
  Wait wait = Wait::other;
  double share = 0;

  bool operator==(const Waiting&) const = default;
};

}  // namespace bottleneck

/// What the largest part of the step waits for.
using Bottleneck = std::variant<bottleneck::Nothing, bottleneck::Kernels, bottleneck::Optimizer,
                                bottleneck::Communication, bottleneck::Loader, bottleneck::Waiting>;

}  // namespace gradway
