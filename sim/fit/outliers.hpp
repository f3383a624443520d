// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sim/cost/calibration.hpp"

namespace gradway {

/// Samples of a table, split.
struct Sifted {
  std::vector<SizedTime> kept;      ///< in the order of the sizes
  std::vector<SizedTime> outliers;  ///< in the order of the sizes
};

/// How far from what its neighbours say a time may be.
constexpr double farthest_from_neighbours = 1.4;

/// Takes out, one after the other, the time that is farthest from what its two neighbours in size say, as
/// long as it is more than 1.4 times away:
///
///   * too late: against a straight line between the neighbours over the logarithms of size and time, so that
///     growth by any power of the size is none; nor is a step upwards, where the line through the next two
///     sizes says the same. The smallest size has the time of its neighbour to meet, the largest its
///     neighbour's bandwidth (or what the neighbour's own neighbour says of it, if that is more);
///   * too early: below the time of the size before, while that is in order with the size after.
///
/// Of two that are as far, the smaller size goes first. Two samples or fewer have no outliers.
/// @param samples one a size, in the order of the sizes
Sifted sift(std::vector<SizedTime> samples);

}  // namespace gradway
