// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "sim/compute/profile_costs.hpp"
#include "sim/compute/rank_scenario.hpp"
#include "sim/cost/clocks.hpp"
#include "sim/workload/eager/eager.hpp"

namespace gradway {

/// CPU time of an operation of eager PyTorch on a platform's hosts, and its source.
struct HostOperation {
  enum class From : std::uint8_t { platform, calibration, assumed };
  Seconds time{};
  From from = From::assumed;
};
HostOperation host_operation(const Platform& platform, const Calibration& calibration);

/// Times of a rank's computation, without communication.
struct ComputeCosts {
  std::vector<Seconds> forward;                                  ///< by layer
  std::vector<Seconds> backward;                                 ///< by layer
  std::vector<int> forward_launches;                             ///< by layer
  std::vector<int> backward_launches;                            ///< by layer
  std::vector<double> forward_host;                              ///< by layer: CPU time in `operation`
  std::vector<double> backward_host;                             ///< by layer
  std::array<Seconds, operation_class_words.size()> by_class{};  ///< forward and backward together
  /// A range of a layer's operations, and the exchanges that are issued before it.
  struct Piece {
    std::vector<Exchange> sends{};
    int waits_for = 0;  ///< number of earlier exchanges of the pass that it waits for, oldest first
    Seconds time{};
    int launches = 0;
    double host = 0;  ///< CPU time of its launches in `operation`
    bool of_parameters = false;
    bool host_waits = false;  ///< the CPU waits for its result
  };
  /// By layer; empty: there are no exchanges, and the CPU waits for no operation.
  std::vector<std::vector<Piece>> forward_pieces;
  std::vector<std::vector<Piece>> backward_pieces;
  /// By layer: what is recomputed before the backward pass of its block; empty: the whole forward pass.
  std::vector<std::vector<Piece>> recomputed_pieces;
  std::vector<char> is_dtensor;  ///< by layer: PyTorch's DTensor needs CPU time for it; empty: for no layer
  std::vector<Layer> of_rank;    ///< the rank's share of the model's layers; empty: layers are not divided
  struct Share {
    Seconds time{};
    int launches = 0;
    double host = 0;  ///< CPU time of its launches in `operation`
  };
  std::vector<Share> of_parameters;  ///< by layer: the part of the backward pass for parameter gradients
  std::vector<Share> once;           ///< by layer: before the forward pass of a step's first micro-batch
  std::vector<Bytes> outputs;        ///< by layer: the input of the next layer
  double slowdown = 1;     ///< of products, attention and convolutions, by clocks under the power limit
  Seconds longest_wait{};  ///< longest wait that counts for the power limit; see longest_effective_wait
  /// CPU time of an operation of eager PyTorch on the slowest rank; on one rank at most the time that the
  /// anchor allows.
  Seconds operation{};
  Seconds launch{};  ///< CPU time per kernel of eager PyTorch on the scenario's host
  /// Expected CPU time of the slowest rank, for which the others wait, over that of one rank.
  double slowest_rank = 1;
  double slower_host = 1;  ///< `launch` over `measured_host_kernel`
  Seconds optimizer{};
  double anchor_scale = 1;              ///< factor on forward and backward that makes them meet the anchor
  std::optional<Anchor> anchor;         ///< the anchor that was used
  std::optional<ProfileCosts> profile;  ///< profiled models only; forward and backward are then empty
  StepMemory memory;                    ///< memory of the passes; empty: unknown
};

/// The settings that determine which kernels PyTorch issues for a scenario's model.
EagerSettings eager_settings(const Scenario& scenario, int batch);

/// Costs of all layers by operation: measured on this GPU, else extrapolated from another GPU, else by the
/// datasheet. If the model has an anchor for this GPU and precision, forward and backward are scaled such
/// that input copy, forward, backward and optimizer on one GPU without DDP take the anchor's time at its
/// batch.
/// @param waiting wait ratio of the GPU: waits reduce the slow-down by the power limit
/// @throws ConfigError if the anchor is shorter than input copy and optimizer
ComputeCosts compute_costs(const Scenario& scenario, const WaitRatio& waiting = {});

/// Time of a single operation on the scenario's GPU at its full clocks, with the pause before it.
Seconds time_of_operation(const Scenario& scenario, const Operation& operation);

/// Time to copy the input of `batch` samples on an otherwise idle platform.
Seconds input_copy_time(const Scenario& scenario, int batch);

}  // namespace gradway
