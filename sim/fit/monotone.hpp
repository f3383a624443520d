// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sim/cost/calibration.hpp"

namespace gradway {

/// Quantile that represents a set of disturbed times. A disturbance only ever lengthens a time, so lower
/// values are nearer to the undisturbed time; the smallest one may be an error of the clock.
constexpr double quiet_quantile = 0.25;

/// The values nearest to the given ones that never fall: of all such sequences one with the least sum of
/// asymmetric distances, `share` for a value above its fit and `1 - share` for one below (a half: the sum of
/// |value - fit|, so medians). Neighbours that would fall are pooled and get the lower quantile of all of
/// them.
/// @source pool adjacent violators; Robertson, Wright, Dykstra: Order Restricted Statistical Inference
/// (1988), 1.5
std::vector<double> rising_fit(const std::vector<double>& values, double share);

/// Times that do not fall with the size, by `rising_fit` at the quiet quantile. (Of the times or of their
/// logarithms: quantiles are the same.) Samples of one size become one point.
/// @return in the order of the sizes, each once
std::vector<SizedTime> monotone(std::vector<SizedTime> samples);

/// Samples of one size become one, at their quiet quantile. @return in the order of the sizes
std::vector<SizedTime> merged_by_size(std::vector<SizedTime> samples);

}  // namespace gradway
