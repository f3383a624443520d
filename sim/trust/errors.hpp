// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <string>
#include <vector>

#include "sim/trust/step_range.hpp"

namespace gradway {

/// Cause of an error, compared by value: predictions with equal causes have the same error, and so have
/// parts of one prediction.
struct Cause {
  PartOfStep part = PartOfStep::compute;
  std::string what;  ///< digest of everything that the error depends on
  auto operator<=>(const Cause&) const = default;
};

/// An error that a prediction may have: something that it is based on is off by up to a factor of 1 +
/// uncertainty, and a part of its step with it.
struct PossibleError {
  Cause cause;
  std::string source{};                 ///< for people; two causes may have equal sources; may be empty
  Seconds time{};                       ///< of the step, that it scales
  double uncertainty = 0;               ///< half-width of the 90 % prediction interval
  Seconds spare{};                      ///< as in UncertainPart
  Seconds saves = Seconds::infinite();  ///< the same

  UncertainPart uncertain() const { return {cause.part, time, uncertainty, spare, saves}; }
};

/// The uncertainties of a step's parts, split by cause. Those of a part add up to that of
/// `uncertain_parts`, as squares of logarithms.
std::vector<PossibleError> possible_errors(const Scenario& scenario, const ComputeCosts& costs,
                                           const Metrics& metrics, const StepBasis& step_basis);

}  // namespace gradway
