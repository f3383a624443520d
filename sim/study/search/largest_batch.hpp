// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "sim/scenario/scenario.hpp"
#include "sim/workload/memory_use.hpp"

namespace gradway {

/// The largest batch whose whole 90 % memory interval fits into the GPU. If not even one sample does, the
/// largest whose expected memory fits.
struct LargestBatch {
  int batch = 0;                        ///< samples per GPU
  int as_written = 0;                   ///< batch of the scenario
  Bytes needs{};                        ///< expected memory
  std::optional<Bytes> one_more_needs;  ///< with one sample more; none if a scenario cannot have that many
  int tight_batch = 0;                  ///< the largest whose expected memory fits
};

/// Everything but the batch is as in the scenario.
/// @throws ConfigError if there is no such batch: not even one sample fits, the GPU's memory is unlimited,
/// nothing is trained, or the activations of a profile are unknown
LargestBatch largest_batch(const Scenario& scenario);

/// Memory of the program that needs most of it, planned without a simulation. @param nccl buffers of NCCL
MemoryUse planned_memory(const Scenario& scenario, Bytes nccl);

}  // namespace gradway
