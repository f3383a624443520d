// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "sim/compute/profile_costs.hpp"
#include "sim/compute/rank_scenario.hpp"
#include "sim/cost/clocks.hpp"
#include "sim/workload/eager.hpp"

namespace gradway {

/// CPU time of an operation of eager PyTorch on a scenario's hosts, and who says so.
struct HostOperation {
  enum class From : std::uint8_t { platform, calibration, assumed };
  Seconds time{};
  From from = From::assumed;
};
HostOperation host_operation(const Scenario& scenario);

/// What the kernels of a model cost on the GPU of a scenario, before any communication.
struct ComputeCosts {
  std::vector<Seconds> forward;                                  ///< by layer
  std::vector<Seconds> backward;                                 ///< by layer
  std::vector<int> forward_launches;                             ///< by layer
  std::vector<int> backward_launches;                            ///< by layer
  std::array<Seconds, operation_class_words.size()> by_class{};  ///< forward and backward together
  /// A stretch of a layer's operations, and what the ranks that share it send each other before it.
  struct Piece {
    std::vector<Exchange> sends{};
    int waits_for = 0;  ///< exchanges of its pass, the oldest that nobody waited for
    Seconds time{};
    int launches = 0;
    bool of_parameters = false;
    bool host_waits = false;  ///< the CPU reads what comes of it before it goes on
  };
  /// By layer; empty: no rank shares a layer, and nothing is read back.
  std::vector<std::vector<Piece>> forward_pieces;
  std::vector<std::vector<Piece>> backward_pieces;
  /// By layer, what runs again before the backward pass of its block; empty: all of the forward pass.
  std::vector<std::vector<Piece>> again_pieces;
  std::vector<char> is_dtensor;  ///< by layer: PyTorch's DTensor takes CPU time to run it; empty: none is one
  std::vector<Layer> of_rank;    ///< the model's layers as a rank has them; empty: no rank shares a layer
  /// What of a backward pass makes gradients of parameters, by layer.
  struct Share {
    Seconds time{};
    int launches = 0;
  };
  std::vector<Share> of_parameters;
  std::vector<Share> once;     ///< by layer: before the forward pass of the first micro-batch of a step
  std::vector<Bytes> outputs;  ///< by layer: what it hands on
  double slowdown = 1;         ///< of products and the like, by the clocks that the power limit leaves
  Seconds cooling{};           ///< with a slow-down: as much of a wait counts. @see longest_cooling
  Seconds operation{};         ///< CPU time of an operation of eager PyTorch; an anchor that is shorter than
                               ///< all of them proves the CPU faster
  Seconds launch{};            ///< what the scenario's host takes for one kernel of eager PyTorch
  double slower_host = 1;      ///< ... over `measured_host_kernel`
  Seconds optimizer{};
  double anchor_scale = 1;              ///< forward and backward were multiplied by this to meet the anchor
  std::optional<Anchor> anchor;         ///< the measurement that was used
  std::optional<ProfileCosts> profile;  ///< of a profiled model; forward and backward are then empty
  StepMemory memory;                    ///< what the passes hold; empty: nobody knows
};

/// What decides which kernels PyTorch issues for a scenario's model.
EagerSettings eager_settings(const Scenario& scenario, int batch);

/// Costs of all layers, operation by operation: those that were timed on this GPU or moved from another, else
/// by its datasheet. If the model has an anchor for this GPU and precision, forward and backward are scaled
/// so that input copy, forward, backward and optimizer of one GPU without DDP, one after the other, take the
/// anchor's time at the anchor's batch. The anchor of the same batch is preferred.
/// @param waiting of the GPU in the step: the more, the less its power limit slows its kernels down
/// @throws ConfigError if the anchor is shorter than input copy and optimizer.
ComputeCosts compute_costs(const Scenario& scenario, const Waiting& waiting = {});

/// Time of the input copy of `batch` samples on an otherwise idle platform: the slowest part of the way.
Seconds input_copy_time(const Scenario& scenario, int batch);

}  // namespace gradway
