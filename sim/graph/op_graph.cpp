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

std::uint32_t OpGraph::add_side(Side side) {
  expects(side.slowdown >= 1, "running beside others never makes faster");
  sides_.push_back(std::move(side));
  return static_cast<std::uint32_t>(sides_.size() - 1);
}

Successors::Successors(const OpGraph& graph)
    : first_(graph.size() + 2, 0), after_(graph.edges().size(), OpId{0}), waiting_(graph.size(), 0) {
  // One place further on, so that filling in moves each op's place to where it belongs.
  for (const auto& edge : graph.edges()) {
    ++first_[edge.before.index() + 2];
    ++waiting_[edge.after.index()];
  }
  for (std::size_t i = 2; i < first_.size(); ++i) first_[i] += first_[i - 1];
  for (const auto& edge : graph.edges()) after_[first_[edge.before.index() + 1]++] = edge.after;
}

std::span<const OpId> Successors::of(OpId op) const {
  const auto begin = first_[op.index()];
  return std::span{after_}.subspan(begin, first_[op.index() + 1] - begin);
}

}  // namespace gradway
