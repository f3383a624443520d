// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/base/units.hpp"

namespace gradway {

/// Parameters of a training with random failures at rate 1/`mttf`.
struct Interruptions {
  Seconds mttf{};     ///< of the job
  Seconds pause{};    ///< for saving a checkpoint
  Seconds restart{};  ///< from a failure to the next step
};

/// The optimal time between checkpoints to first order, sqrt(2 d M).
/// @source J. W. Young, Communications of the ACM 17(9), 1974
Seconds young_interval(const Interruptions& interruptions);

/// The optimal time between checkpoints to higher order: sqrt(2 d M) (1 + sqrt(d/2M)/3 + d/18M) - d for d <
/// 2M, else M.
/// @source J. T. Daly, Future Generation Computer Systems 22(3), 2006, equation 37
Seconds daly_interval(const Interruptions& interruptions);

/// Share of time that is productive: t / (M e^(R/M) (e^((t+d)/M) - 1)). Exact for random failures, also
/// during restarts and checkpoints.
/// @source Daly, equation 20 @param interval t, training time between two checkpoints
double efficiency(const Interruptions& interruptions, Seconds interval);

/// E[ETTR] = (1 - r (u0 + D/2)) / (1 + w/D) with r = 1/M, within 5 % of its authors' Monte Carlo results.
/// @source Kokolis et al., HPCA 2025, arXiv 2410.21680
double expected_ettr(const Interruptions& interruptions, Seconds interval);

/// Samples (or tokens) to a target loss over those with very small batches: 1 + B / B_noise.
/// @source S. McCandlish et al., "An Empirical Model of Large-Batch Training", arXiv 1812.06162, 2018:
/// S = S_min (1 + B_noise / B) steps and E = S B = E_min (1 + B / B_noise) samples, E_min = S_min B_noise
/// @param critical_batch B_noise in the unit of `batch`
double samples_to_target(double batch, double critical_batch);

/// Half an order of magnitude: that far the simple noise scale may be from the batch at which twice the
/// fewest samples are needed. The same source: it predicts the largest useful batch size at the order of
/// magnitude level.
inline constexpr double critical_batch_error = 3.1622776601683795;

/// Expected maximum of `count` standard normal numbers: the integral of 1 - F^n over positive values less
/// that of F^n over negative values, by Simpson's rule.
double expected_maximum(double count);

}  // namespace gradway
