// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "sim/study/compare/training.hpp"
#include "sim/study/search/largest_batch.hpp"

namespace gradway::report {

/// What was asked of a run beside its step.
struct RunQuestions {
  std::optional<TrainingGoal> goal{};
  std::optional<LargestBatch> largest_batch{};  ///< the run is that of this batch
};

}  // namespace gradway::report
