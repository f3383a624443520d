// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "sim/study/compare/training.hpp"
#include "sim/study/explain/explain.hpp"
#include "sim/study/search/largest_batch.hpp"
#include "sim/study/staging/ways_in.hpp"

namespace gradway::report {

/// What the user asked of a run in addition to its step.
struct RunQuestions {
  std::optional<TrainingGoal> goal{};
  std::optional<WaysIn> ways_in{};              ///< of a dataset that is staged
  std::optional<LargestBatch> largest_batch{};  ///< if asked for; the run then has this batch
  /// What makes the job fit as written; empty: it fits, or nothing suffices.
  std::vector<Counterfactual> changes_to_fit{};
  Seconds step_as_written{};  ///< step time before these changes
};

}  // namespace gradway::report
