// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "sim/study/compare/training.hpp"
#include "sim/study/explain/explain.hpp"
#include "sim/study/staging/ways_in.hpp"

namespace gradway::report {

/// What the user asked of a run in addition to its step.
struct RunQuestions {
  std::optional<TrainingGoal> goal{};
  std::optional<WaysIn> ways_in{};  ///< of a dataset that is staged
  WhatFits fit{};                   ///< if asked for; the run then has the largest batch
};

}  // namespace gradway::report
