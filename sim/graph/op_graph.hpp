// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sim/base/contract.hpp"
#include "sim/base/ids.hpp"
#include "sim/base/units.hpp"
#include "sim/graph/origin.hpp"

namespace gradway {

/// The few things an engine can do.
enum class OpKind : std::uint8_t {
  join,   ///< nothing; ends as soon as all it waits for has ended
  delay,  ///< lasts `latency`, whatever else happens
  flow,   ///< lasts `latency`, then moves `amount` over a path that it shares with other flows
};

/// One op. Units of `amount` and `cap` follow the resources of the path: bytes and bytes a second on links
/// and memories, seconds of work and seconds a second on a GPU (whose capacity is 1).
struct Op {
  OpKind kind = OpKind::join;
  Seconds latency{};  ///< delay: its duration; flow: paid before it starts to share
  double amount = 0;  ///< flow only; zero is legal (ends when the latency is paid); infinite: see is_endless
  double cap = std::numeric_limits<double>::infinity();  ///< flow only; its largest rate
  double weight = 1;             ///< flow only; its share against others (weight 2 gets twice the rate)
  std::uint32_t path = absent;   ///< flow only; index into OpGraph's paths
  std::uint32_t queue = absent;  ///< serves one op at a time, in order of readiness, then of id
  std::uint32_t side = absent;   ///< flow only; index into OpGraph's sides
  Origin origin{};

  static constexpr std::uint32_t absent = std::numeric_limits<std::uint32_t>::max();

  /// A neighbour's traffic: it shares from the moment it is ready until all other ops have ended. Nothing may
  /// wait for it, and it waits in no queue.
  bool is_endless() const {
    return kind == OpKind::flow && amount == std::numeric_limits<double>::infinity();
  }
};

/// Who an op runs beside, and what that costs it.
///
/// While an op of one kind is in its flow (latency paid, not ended), each op in flow of the other kind that
/// shares a GPU with it has its `cap` divided by its own `slowdown`. Several neighbours slow no more than
/// one.
///
/// A kernel that `holds` leaves no room on its GPU: a collective that gets ready while such a kernel is in
/// flow (since an earlier date) starts, latency and all, when every kernel that held one of its GPUs at that
/// date has ended. Kernels that follow do not delay it any more.
struct Side {
  enum class Kind : std::uint8_t { kernel, collective };
  Kind kind = Kind::kernel;
  double slowdown = 1;              ///< >= 1
  std::vector<std::uint32_t> gpus;  ///< GPU numbers, each once
  bool holds = false;               ///< kernel only
};

/// Operations and what each waits for. The only thing an engine sees besides the capacities of the platform.
class OpGraph {
 public:
  /// Makes room, so that adding moves nothing about.
  void reserve(std::size_t ops, std::size_t edges);
  OpId add(const Op& op) {
    expects(op.latency >= Seconds{0} && op.amount >= 0 && op.cap > 0 && op.weight > 0,
            "an op has sound numbers");
    expects(op.kind != OpKind::flow || op.path < paths_.size(), "a flow has a path");
    expects(op.queue == Op::absent || op.queue < queues_.size(), "the queue of an op exists");
    expects(op.side == Op::absent || op.side < sides_.size(), "the side of an op exists");
    ops_.push_back(op);
    return OpId{ops_.size() - 1};
  }
  /// `after` does not become ready before `before` has ended.
  void add_edge(OpId before, OpId after) {
    expects(before.index() < ops_.size() && after.index() < ops_.size(), "an edge joins ops of the graph");
    edges_.push_back({before, after});
  }
  /// A bag of resources used together; one that appears k times is used k times over by each unit of the
  /// flow.
  std::uint32_t add_path(std::vector<ResourceId> resources);
  std::uint32_t add_queue(std::string name);
  std::uint32_t add_side(Side side);

  std::size_t size() const { return ops_.size(); }
  const Op& op(OpId id) const { return ops_[id.index()]; }
  const std::vector<Op>& ops() const { return ops_; }
  const std::vector<ResourceId>& path(std::uint32_t index) const { return paths_[index]; }
  const std::vector<std::vector<ResourceId>>& paths() const { return paths_; }
  const std::vector<Side>& sides() const { return sides_; }
  const std::vector<std::string>& queues() const { return queues_; }

  struct Edge {
    OpId before;
    OpId after;
  };
  const std::vector<Edge>& edges() const { return edges_; }

 private:
  std::vector<Op> ops_;
  std::vector<Edge> edges_;
  std::vector<std::vector<ResourceId>> paths_;
  std::vector<Side> sides_;
  std::vector<std::string> queues_;
};

/// The edges of a graph sorted by their first op: successors of an op are one contiguous range.
class Successors {
 public:
  explicit Successors(const OpGraph& graph);
  std::span<const OpId> of(OpId op) const;
  /// How many edges end in each op.
  std::vector<std::uint32_t> take_waiting() { return std::move(waiting_); }

 private:
  std::vector<std::uint32_t> first_;
  std::vector<OpId> after_;
  std::vector<std::uint32_t> waiting_;
};

}  // namespace gradway
