// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/step_memory.hpp"

#include <algorithm>
#include <numeric>

namespace gradway {
namespace {

std::vector<double> running_sums(const std::vector<double>& changes) {
  std::vector<double> sums(changes.size() - 1);
  std::partial_sum(changes.begin(), changes.end() - 1, sums.begin());
  return sums;
}

}  // namespace

MemoryTimeline::MemoryTimeline(std::int32_t nodes)
    : nodes_{nodes}, change_(2 * static_cast<std::size_t>(nodes) + 1, 0), change_held_on_{change_} {}

void MemoryTimeline::hold(std::int32_t from, std::int32_t until, double bytes) {
  const auto first = static_cast<std::size_t>(std::max(from, 0));
  const auto last = static_cast<std::size_t>(until);
  change_[first] += bytes;
  change_[last + 1] -= bytes;
  change_held_on_[first] += bytes;
  change_held_on_[std::max(first, last)] -= bytes;
}

void MemoryTimeline::pass(std::int32_t node, double forward, double backward) {
  hold(node, node, forward);
  hold(back(node), back(node), backward);
}

std::vector<double> MemoryTimeline::sums() const {
  return running_sums(change_);
}

std::vector<double> MemoryTimeline::held_on() const {
  return running_sums(change_held_on_);
}

}  // namespace gradway
