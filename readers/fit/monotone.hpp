// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sim/cost/calibration.hpp"

namespace gradway {

/// Quantile that represents a set of disturbed times. A disturbance only lengthens a time, so lower values
/// are closer to the undisturbed time; but the smallest one may be an error of the clock.
constexpr double undisturbed_quantile = 0.25;

/// The closest non-decreasing sequence: one with the least sum of asymmetric distances, `share` for a value
/// above its fit and `1 - share` for one below (a half: the sum of |value - fit|, so medians). Neighbours
/// that would decrease are pooled and get the lower quantile of all of them.
/// @source pool adjacent violators; Robertson, Wright, Dykstra: Order Restricted Statistical Inference
/// (1988), 1.5
std::vector<double> monotone_fit(const std::vector<double>& values, double share);

/// Times that do not decrease with the size, by `monotone_fit` at the quiet quantile. (Quantiles of times and
/// of their logarithms are the same.) Samples of one size become one point.
/// @return in the order of the sizes, each once
std::vector<SizedTime> monotone(std::vector<SizedTime> samples);

/// Merges the samples of one size at their quiet quantile. @return in the order of the sizes
std::vector<SizedTime> merged_by_size(std::vector<SizedTime> samples);

/// Samples of a table, split into kept samples and outliers.
struct FilteredSamples {
  std::vector<SizedTime> kept;      ///< In the order of the sizes.
  std::vector<SizedTime> outliers;  ///< In the order of the sizes.
};

/// Maximum ratio between a time and the time that its neighbours predict.
constexpr double max_outlier_ratio = 1.4;

/// Repeatedly removes the time that is farthest from the prediction of its two neighbours in size, while the
/// ratio exceeds 1.4:
///
///   * too late: against a straight line between the neighbours over the logarithms of size and time, so that
///   growth by any power of the size is accepted; so is a step upwards if the line through the next two sizes
///   confirms it. The smallest size is compared with the time of its neighbour, the largest with its
///   neighbour's bandwidth (or with the prediction of the neighbour's own neighbour, if that is larger);
///   * too early: below the time of the previous size, if that is consistent with the next size.
///
/// If two ratios are equal, the smaller size is removed first. Two samples or fewer have no outliers.
/// @param samples one per size, in ascending order
FilteredSamples remove_outliers(std::vector<SizedTime> samples);

}  // namespace gradway
