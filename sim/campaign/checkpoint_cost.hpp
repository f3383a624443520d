// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/campaign/plan.hpp"

namespace gradway {

/// Whether a tier is written or read.
enum class Way : std::uint8_t { write, read };

/// What a tier takes from all who write at once, or gives them.
/// @param nodes whose drives and ways it is @param ranks that write, a connection each
/// * a tier whose writing is not told takes as much as it gives
/// * one with credits goes at what it sustains: checkpoints come again and again
BytesPerSecond tier_rate(const StorageTier& tier, Way way, int nodes, int ranks);

/// Of what a tier gives, what the loaders of the job take of it; 0 if the data lie elsewhere.
double share_of_data(const Scenario& scenario, const Metrics& metrics);

/// PyTorch's dcp.async_save allocates pageable memory each time; Megatron-Core, and whoever says how fast
/// copies are, copies to pinned memory.
/// @source torch/distributed/checkpoint/_async_executor.py and staging.py, PyTorch 2.11; Megatron-Core,
/// dist_checkpointing/strategies/filesystem_async.py (preload_tensors)
Staging staging_of(const CheckpointSettings& settings, const Job& job);

/// What saving and reading back takes. Where data come from the tier that checkpoints go to, both share it
/// max-min fairly beside steps: loaders get what they ask for up to a half; what they ask for beyond makes
/// steps as much longer.
CheckpointCost checkpoint_cost(const CheckpointSettings& settings, const Scenario& scenario,
                               const Metrics& metrics, int nodes);

}  // namespace gradway
