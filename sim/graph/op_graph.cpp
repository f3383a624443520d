// SPDX-License-Identifier: Apache-2.0
#include "sim/graph/op_graph.hpp"

#include "sim/base/contract.hpp"

namespace gradway {

void OpGraph::reserve(std::size_t ops, std::size_t edges) {
  ops_.reserve(ops);
  edges_.reserve(edges);
}

std::uint32_t OpGraph::add_path(std::vector<ResourceId> resources) {
  paths_.push_back(std::move(resources));
  return static_cast<std::uint32_t>(paths_.size() - 1);
}

std::uint32_t OpGraph::add_queue(std::string name) {
  queues_.push_back(std::move(name));
  return static_cast<std::uint32_t>(queues_.size() - 1);
}

std::uint32_t OpGraph::add_contender(Contender contender) {
  expects(contender.slowdown >= 1, "contention must not make an op faster");
  contenders_.push_back(std::move(contender));
  return static_cast<std::uint32_t>(contenders_.size() - 1);
}

Successors::Successors(const OpGraph& graph)
    : first_(graph.size() + 2, 0), after_(graph.edges().size(), OpId{0}), predecessors_(graph.size(), 0) {
  // Counting sort. Offsets are stored one place late, so that filling advances each to its final place.
  for (const auto& edge : graph.edges()) {
    ++first_[edge.before.index() + 2];
    ++predecessors_[edge.after.index()];
  }
  for (std::size_t i = 2; i < first_.size(); ++i) first_[i] += first_[i - 1];
  for (const auto& edge : graph.edges()) after_[first_[edge.before.index() + 1]++] = edge.after;
}

std::span<const OpId> Successors::of(OpId op) const {
  const auto begin = first_[op.index()];
  return std::span{after_}.subspan(begin, first_[op.index() + 1] - begin);
}

}  // namespace gradway
