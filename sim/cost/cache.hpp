// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace gradway {

/// What a full cache gives up for what is read next.
enum class CachePolicy : std::uint8_t {
  keeps,  ///< nothing: what came first stays
  lru,    ///< what was not read for longest
  random  ///< anything
};
inline constexpr std::array<std::string_view, 3> cache_policy_words{"keeps", "lru", "random"};

/// Share of reads that a cache answers from the second epoch on, where each epoch reads every sample once in
/// a new random order: a sample comes again after about as many others as there are, so a cache that gives
/// things up keeps few until their turn.
/// @param cached share of the samples that fit, 0 to 1
/// @source keeps: CoorDL, arXiv 2007.06775. lru: c + (1 - c) ln(1 - c), as a hit needs u v >= 1 - c of two
/// uniform places; random: the fixed point of h = ((1 - e^-x) / x)^2 with x = (1 - h) / c; both derived
double hit_ratio(CachePolicy policy, double cached);

}  // namespace gradway
