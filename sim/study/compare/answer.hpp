// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sim/compute/memory_range.hpp"
#include "sim/run/simulate.hpp"
#include "sim/study/compare/leaders.hpp"

namespace gradway {

/// What the simulation of one of several candidates predicts.
struct Answer {
  Metrics metrics{};
  TimeRange range{};                    ///< of the step time
  std::vector<PossibleError> errors{};  ///< of the step time
  Bytes memory{};                       ///< expected need of the GPU, of the largest stage
  MemoryVerdict verdict = MemoryVerdict::fits;
  std::vector<ProvenanceFact> basis{};  ///< provenance of the prediction
  std::vector<Warning> warnings{};

  bool surely_fits() const { return verdict == MemoryVerdict::fits; }
  /// For a ranking by a figure that is proportional to the step time.
  Choice choice(double figure) const { return {figure, metrics.step_time, errors}; }
};

Answer answer_of(const Run& run);

}  // namespace gradway
