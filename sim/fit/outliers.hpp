// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sim/cost/calibration.hpp"

namespace gradway {

/// Samples of a table, split into kept ones and outliers.
struct Sifted {
  std::vector<SizedTime> kept;      ///< in the order of the sizes
  std::vector<SizedTime> outliers;  ///< in the order of the sizes
};

/// Maximum ratio between a time and the time that its neighbours predict.
constexpr double farthest_from_neighbours = 1.4;

/// Repeatedly removes the time that is farthest from the prediction of its two neighbours in size, while the
/// ratio exceeds 1.4:
///
///   * too late: against a straight line between the neighbours over the logarithms of size and time, so that
///     growth by any power of the size is none; nor is a step upwards, where the line through the next two
///     sizes says the same. The smallest size has the time of its neighbour to meet, the largest its
///     neighbour's bandwidth (or what the neighbour's own neighbour says of it, if that is more);
///   * too early: below the time of the size before, while that is in order with the size after.
///
/// Of two equal ratios the smaller size is removed first. Two samples or fewer have no outliers.
/// @param samples one per size, in ascending order
Sifted sift(std::vector<SizedTime> samples);

}  // namespace gradway
