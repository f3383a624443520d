// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/base/units.hpp"

namespace gradway {

/// What decides how a training fares that is interrupted: failures come at random, 1/`mttf` of them a second.
struct Interruptions {
  Seconds mttf{};     ///< of the job
  Seconds pause{};    ///< for a checkpoint
  Seconds restart{};  ///< all that it takes to go on, from a checkpoint
};

/// The best time between checkpoints to first order, sqrt(2 d M).
/// @source J. W. Young, Communications of the ACM 17(9), 1974
Seconds young_interval(const Interruptions& what);

/// The same to higher order: sqrt(2 d M) (1 + sqrt(d/2M)/3 + d/18M) - d for d < 2M, else M.
/// @source J. T. Daly, Future Generation Computer Systems 22(3), 2006, equation 37
Seconds daly_interval(const Interruptions& what);

/// Which share of the time is training that counts: t / (M e^(R/M) (e^((t+d)/M) - 1)), exact for failures
/// that come at random, also during restarts and checkpoints.
/// @source Daly, equation 20 @param interval t, of training between two checkpoints
double efficiency(const Interruptions& what, Seconds interval);

/// E[ETTR] = (1 - r (u0 + D/2)) / (1 + w/D) with r = 1/M, within 5 % of Monte Carlo by its authors.
/// @source Kokolis et al., HPCA 2025, arXiv 2410.21680
double expected_ettr(const Interruptions& what, Seconds interval);

/// The mean of the largest of so many normal numbers, in standard deviations from their mean; by Simpson's
/// rule on the integral of 1 - F^n over what is above zero, less that of F^n over what is below.
double expected_largest(double count);

}  // namespace gradway
