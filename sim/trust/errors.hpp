// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <string>
#include <vector>

#include "sim/trust/step_range.hpp"

namespace gradway {

/// What an error comes from, compared by value: predictions whose causes are equal have the same error, and
/// so have parts of one prediction.
struct Cause {
  PartOfStep part = PartOfStep::compute;
  std::string what;  ///< digest of everything that the error depends on
  auto operator<=>(const Cause&) const = default;
};

/// An error that a prediction may have: something that it rests on is off by up to a factor of 1 +
/// uncertainty, and a part of its step with it.
struct PossibleError {
  Cause cause;
  std::string of;                       ///< the cause in words, for people; two causes may have the same
  Seconds time{};                       ///< of the step, that it scales
  double uncertainty = 0;               ///< nine of ten cases are within it
  Seconds spare{};                      ///< as in UncertainPart
  Seconds saves = Seconds::infinite();  ///< the same

  UncertainPart uncertain() const { return {cause.part, time, uncertainty, spare, saves}; }
};

/// What the uncertainties of a step's parts come from, one by one. The uncertainties of a part make up that
/// of `uncertain_parts`: they add as squares of logarithms.
std::vector<PossibleError> possible_errors(const Scenario& scenario, const ComputeCosts& costs,
                                           const Metrics& metrics, const StepBasis& step_basis);

}  // namespace gradway
