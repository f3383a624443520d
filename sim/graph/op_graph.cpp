// SPDX-License-Identifier: Apache-2.0
#include "sim/graph/op_graph.hpp"

#include "sim/base/contract.hpp"

namespace gradway {

void OpGraph::reserve(std::size_t ops, std::size_t edges) {
  ops_.reserve(ops);
  edges_.reserve(edges);
}

OpId OpGraph::add(const Op& op) {
  expects(op.latency >= Seconds{0} && op.amount >= 0 && op.cap > 0 && op.weight > 0,
          "an op has sound numbers");
  expects(op.kind != OpKind::flow || op.path < paths_.size(), "a flow has a path");
  expects(op.queue == Op::absent || op.queue < queues_.size(), "the queue of an op exists");
  expects(op.side == Op::absent || op.side < sides_.size(), "the side of an op exists");
  ops_.push_back(op);
  return OpId{ops_.size() - 1};
}

void OpGraph::add_edge(OpId before, OpId after) {
  expects(before.index() < ops_.size() && after.index() < ops_.size(), "an edge joins ops of the graph");
  edges_.push_back({before, after});
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
    : first_(graph.size() + 1, 0), after_(graph.edges().size(), OpId{0}), waiting_(graph.size(), 0) {
  for (const auto& edge : graph.edges()) {
    ++first_[edge.before.index() + 1];
    ++waiting_[edge.after.index()];
  }
  for (std::size_t i = 1; i < first_.size(); ++i) first_[i] += first_[i - 1];
  auto next = first_;
  for (const auto& edge : graph.edges()) after_[next[edge.before.index()]++] = edge.after;
}

std::span<const OpId> Successors::of(OpId op) const {
  const auto begin = first_[op.index()];
  return std::span{after_}.subspan(begin, first_[op.index() + 1] - begin);
}

}  // namespace gradway
