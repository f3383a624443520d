// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/campaign/plan.hpp"

namespace gradway {

enum class TransferDirection : std::uint8_t { write, read };

/// Total rate of a tier for concurrent writers or readers.
/// * Without a write rate, writes are as fast as reads.
/// * A tier with burst credits runs at its sustained rate, because checkpoints repeat.
/// @param nodes that provide drives and connections @param ranks that transfer, one connection each
BytesPerSecond tier_rate(const StorageTier& tier, TransferDirection direction, int nodes, int ranks);

/// Share of the checkpoint tier's read rate that the job's loaders use; 0 if the data are on another tier.
double loader_share(const Scenario& scenario, const Metrics& metrics);

/// Memory to which ranks copy their state. PyTorch's dcp.async_save allocates pageable memory each time.
/// Megatron-Core, and jobs with a given copy rate, copy to pinned memory.
/// @source torch/distributed/checkpoint/_async_executor.py and staging.py, PyTorch 2.11; Megatron-Core,
/// dist_checkpointing/strategies/filesystem_async.py (preload_tensors)
Staging staging_of(const CheckpointSettings& settings, const Job& job);

/// Cost of saving and restoring a checkpoint. Loaders and checkpoints on the same tier share it max-min
/// fairly during steps: loaders get up to half of its rate (with a weight w of the checkpoints, up to
/// 1 / (1 + w)), and steps slow down if they need more.
CheckpointCost checkpoint_cost(const CheckpointSettings& settings, const Scenario& scenario,
                               const Metrics& metrics, int nodes);

}  // namespace gradway
