// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace gradway {

/// An independent stream of random numbers for each use. A changed setting of one use does not change the
/// numbers of the others, so that campaigns can be compared seed by seed.
enum class RandomStream : std::uint64_t {
  step,
  failures,
  causes,
  again,
  spot,
  spot_down,
  stragglers,
  batches,
  latencies,
  clients,
  client_speeds,
  shards
};

/// Counter-based random numbers, which are the same on every machine and with every library.
/// @source SplitMix64 (Steele, Lea, Flood, OOPSLA 2014; constants of Vigna's splitmix64.c)
class Random {
 public:
  Random(std::uint64_t seed, RandomStream stream);

  double uniform();                 ///< in the open interval (0, 1)
  double exponential(double mean);  ///< by inversion of one uniform number
  double normal();                  ///< mean 0, standard deviation 1 (Box-Muller with two uniform numbers)
  /// A log-normal number. If the mean is not above the median, which no log-normal distribution has, the
  /// number is exponential.
  double log_normal(double mean, double mean_over_median);
  /// A gamma-distributed number of mean 1.
  /// @param deviation the standard deviation, above 0; with 1 the distribution is exponential
  /// @source Marsaglia and Tsang, A Simple Method for Generating Gamma Variables, TOMS 26 (2000)
  double gamma(double deviation);

 private:
  std::uint64_t next();

  std::uint64_t state_;
};

}  // namespace gradway
