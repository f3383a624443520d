// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/step_memory.hpp"

#include <algorithm>

namespace gradway {

MemoryTimeline::MemoryTimeline(std::int32_t nodes)
    : nodes_{nodes}, change_(2 * static_cast<std::size_t>(nodes) + 1, 0) {}

void MemoryTimeline::hold(std::int32_t from, std::int32_t until, double bytes) {
  change_[static_cast<std::size_t>(std::max(from, 0))] += bytes;
  change_[static_cast<std::size_t>(until) + 1] -= bytes;
  if (from < nodes_ && until >= nodes_) after_forward_ += bytes;
}

void MemoryTimeline::pass(std::int32_t node, double forward, double backward) {
  hold(node, node, forward);
  hold(back(node), back(node), backward);
}

std::vector<double> MemoryTimeline::sums() const {
  std::vector<double> sums;
  sums.reserve(change_.size() - 1);
  double held = 0;
  for (std::size_t i = 0; i + 1 < change_.size(); ++i) sums.push_back(held += change_[i]);
  return sums;
}

}  // namespace gradway
