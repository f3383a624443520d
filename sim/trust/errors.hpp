// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sim/trust/step_range.hpp"

namespace gradway {

/// An error that a prediction may have: something that it rests on is off by up to a factor of 1 + doubt, and
/// a part of its step with it. Predictions that rest on the same thing have the same error of it.
struct PossibleError {
  PartOfStep part = PartOfStep::compute;
  std::string of;                       ///< the same text: the same error
  Seconds time{};                       ///< of the step, that it scales
  double doubt = 0;                     ///< nine of ten cases are within it
  Seconds spare{};                      ///< as in DoubtfulPart
  Seconds saves = Seconds::infinite();  ///< the same

  DoubtfulPart doubtful() const { return {part, time, doubt, spare, saves}; }
};

/// What the doubts of a step's parts come from, one by one. The doubts of a part make up that of
/// `doubtful_parts`: they add as squares of logarithms.
std::vector<PossibleError> possible_errors(const Scenario& scenario, const ComputeCosts& costs,
                                           const Metrics& metrics, const Grounds& grounds);

}  // namespace gradway
