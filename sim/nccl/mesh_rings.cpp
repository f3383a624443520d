// SPDX-License-Identifier: Apache-2.0
#include "sim/nccl/mesh_rings.hpp"

#include <algorithm>
#include <numeric>

namespace gradway {
namespace {

using Ring = std::vector<std::size_t>;

/// Found by exhaustive search: 7 rings of 8 GPUs that have no link in common (they use all 56).
const std::vector<Ring>& rings_of_eight() {
  static const std::vector<Ring> rings{
      {0, 1, 2, 3, 4, 5, 6, 7}, {0, 2, 1, 3, 5, 4, 7, 6}, {0, 3, 1, 4, 6, 2, 7, 5}, {0, 4, 1, 5, 7, 2, 6, 3},
      {0, 5, 3, 6, 1, 7, 4, 2}, {0, 6, 5, 2, 4, 3, 7, 1}, {0, 7, 3, 2, 5, 1, 6, 4}};
  return rings;
}

bool is_prime(std::size_t number) {
  if (number < 2) return false;
  for (std::size_t factor = 2; factor * factor <= number; ++factor)
    if (number % factor == 0) return false;
  return true;
}

/// `count` positions from `start` on in steps of `stride`, modulo `count`.
Ring strided(std::size_t count, std::size_t start, std::size_t stride) {
  Ring ring;
  for (std::size_t i = 0; i < count; ++i) ring.push_back((start + i * stride) % count);
  return ring;
}

}  // namespace

int mesh_links(const Routes& routes, const std::vector<std::size_t>& gpus) {
  const auto& platform = routes.platform();
  if (gpus.size() < 2 || routes.links_to_nvswitch(platform.gpus[gpus.front()])) return 0;
  const auto links = [&](std::size_t a, std::size_t b) {
    return routes.nvlinks(platform.gpus[gpus[a]], platform.gpus[gpus[b]]);
  };
  const auto least = links(0, 1);
  if (least == 0) return 0;
  for (std::size_t a = 0; a < gpus.size(); ++a)
    for (std::size_t b = 0; b < gpus.size(); ++b)
      if (a != b && links(a, b) != least) return 0;
  return static_cast<int>(gpus.size()) - 1;
}

std::vector<Ring> mesh_rings(std::size_t gpus) {
  constexpr std::size_t most = 8;
  std::vector<Ring> rings;
  if (gpus < 2 || gpus > most) return rings;
  if (gpus == most) return rings_of_eight();
  if (is_prime(gpus)) {
    for (std::size_t stride = 1; stride < gpus; ++stride) rings.push_back(strided(gpus, 0, stride));
    return rings;
  }
  const auto ring_gpus = gpus - 1;  // 3 or 5: a ring of these, which the last GPU enters at each place
  for (std::size_t stride = 1; stride < ring_gpus; ++stride) {
    for (std::size_t start = 0; start < ring_gpus; ++start) {
      rings.push_back(strided(ring_gpus, start, stride));
      rings.back().push_back(ring_gpus);
    }
  }
  return rings;
}

Ring mesh_chain(std::size_t gpus, std::size_t start) {
  Ring chain{start};
  for (std::size_t i = 1; i < gpus; ++i) {
    const auto away = (i + 1) / 2;
    chain.push_back((start + (i % 2 == 1 ? away : gpus - away)) % gpus);
  }
  return chain;
}

}  // namespace gradway
