// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "sim/scenario/scenario.hpp"

namespace gradway {

/// The largest batch that a GPU has memory for with room: the whole 90 % interval of what it needs. If not
/// even one sample has that, the largest whose expected value the GPU can hold.
struct LargestBatch {
  int batch = 0;                        ///< samples a GPU
  int as_written = 0;                   ///< in the scenario
  Bytes needs{};                        ///< that the card must hold
  std::optional<Bytes> one_more_needs;  ///< none if it would be more than a scenario can ask for
  int tight_batch = 0;                  ///< the largest whose expected value fits, without room
};

/// All but the batch is as the scenario has it.
/// @throws ConfigError if there is none: not even one sample fits, the GPU holds anything, nothing is
/// trained, or the memory of a profile is known without its activations
LargestBatch largest_batch(const Scenario& scenario);

}  // namespace gradway
