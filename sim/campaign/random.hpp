// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace gradway {

/// What a draw is for. Each use has numbers of its own, so that another setting of one leaves those of the
/// others as they are, and campaigns can be compared seed by seed.
enum class Draws : std::uint64_t {
  step,
  failures,
  causes,
  again,
  spot,
  spot_down,
  stragglers,
  clients,
  client_speeds
};

/// Random numbers that a seed and a counter give, the same on every machine and with every library.
/// @source SplitMix64 (Steele, Lea, Flood, OOPSLA 2014; constants of Vigna's splitmix64.c)
class Random {
 public:
  Random(std::uint64_t seed, Draws use);

  double uniform();                 ///< above 0, below 1
  double exponential(double mean);  ///< its inverse, of one uniform number
  double normal();                  ///< mean 0, standard deviation 1 (Box and Muller, two numbers)
  /// A log-normal number; an exponential one where the mean is the median or less, which no log-normal has.
  double log_normal(double mean, double mean_over_median);

 private:
  std::uint64_t next();

  std::uint64_t state_;
};

}  // namespace gradway
