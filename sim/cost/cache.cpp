// SPDX-License-Identifier: Apache-2.0
#include "sim/cost/cache.hpp"

#include <algorithm>
#include <cmath>

namespace gradway {
namespace {

/// There is one fixed point below 1, to which iteration from 0 converges.
double by_random_replacement(double cached) {
  constexpr int rounds = 10'000;
  constexpr double settled = 1e-12;
  double hits = 0;
  for (int round = 0; round < rounds; ++round) {
    const double x = (1 - hits) / cached;
    const double next = std::pow(-std::expm1(-x) / x, 2);
    if (std::abs(next - hits) < settled) return next;
    hits = next;
  }
  return hits;
}

}  // namespace

double hit_ratio(CachePolicy policy, double cached) {
  cached = std::clamp(cached, 0.0, 1.0);
  if (cached == 0 || cached == 1) return cached;
  switch (policy) {
    case CachePolicy::keeps:
      return cached;
    case CachePolicy::lru:
      return cached + (1 - cached) * std::log1p(-cached);
    case CachePolicy::random:
      return by_random_replacement(cached);
  }
  return 0;
}

}  // namespace gradway
