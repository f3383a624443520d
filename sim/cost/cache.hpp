// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace gradway {

/// What a full cache evicts when further data is read.
enum class CachePolicy : std::uint8_t {
  keeps,  ///< nothing
  lru,    ///< the least recently used sample
  random  ///< a random sample
};
inline constexpr std::array<std::string_view, 3> cache_policy_words{"keeps", "lru", "random"};

/// Hit ratio of a cache from the second epoch on, if each epoch reads every sample once in a new random
/// order. About a whole epoch lies between two reads of a sample, so that a cache with eviction has lost most
/// samples when they are read again.
/// @param cached share of the samples that fit, 0 to 1
/// @source keeps: CoorDL, arXiv 2007.06775. lru: c + (1 - c) ln(1 - c), since a hit needs u v >= 1 - c for
/// two
///         uniform positions; random: the fixed point of h = ((1 - e^-x) / x)^2 with x = (1 - h) / c; both
///         derived by us
double hit_ratio(CachePolicy policy, double cached);

}  // namespace gradway
