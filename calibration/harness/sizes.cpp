// SPDX-License-Identifier: Apache-2.0
#include "calibration/harness/sizes.hpp"

#include <algorithm>

#include "sim/base/contract.hpp"

namespace gradway::probe {

std::vector<std::size_t> powers(std::size_t smallest, std::size_t largest, std::size_t factor) {
  expects(smallest > 0 && smallest <= largest && factor > 1, "sizes grow");
  std::vector<std::size_t> sizes;
  for (auto size = smallest; size < largest; size *= factor) sizes.push_back(size);
  sizes.push_back(largest);
  return sizes;
}

std::vector<int> rank_counts(int all) {
  std::vector<int> counts;
  for (int two = 2; two < all; two *= 2) {
    counts.push_back(two);
    if (two / 2 * 3 < all) counts.push_back(two / 2 * 3);
  }
  if (all > 1) counts.push_back(all);
  std::ranges::sort(counts);
  return counts;
}

}  // namespace gradway::probe
