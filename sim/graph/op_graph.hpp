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

/// What an engine can do.
enum class OpKind : std::uint8_t {
  join,   ///< ends as soon as all its predecessors have ended
  delay,  ///< lasts `latency`, independently of other ops
  flow,   ///< lasts `latency`, then moves `amount` over a path that it shares with other flows
  hold,   ///< moves nothing, but counts as in flow for its contender until the op `until` ends
};

/// One op. The units of `amount` and `cap` depend on the resources of the path: bytes and bytes per second on
/// links and memories; seconds of work and seconds per second on a GPU, whose capacity is 1.
struct Op {
  OpKind kind = OpKind::join;
  Seconds latency{};  ///< delay: its duration; flow: time before it starts to use its path
  double amount = 0;  ///< flow only; zero is legal: the flow ends after its latency; infinite: see is_endless
  double cap = std::numeric_limits<double>::infinity();  ///< flow only; its largest rate
  double weight = 1;                 ///< flow only; a flow of weight 2 gets twice the rate of one of weight 1
  std::uint32_t path = absent;       ///< flow only; index into OpGraph's paths
  std::uint32_t queue = absent;      ///< serves one op at a time, in order of readiness, then of id
  std::uint32_t contender = absent;  ///< flow and hold only; index into OpGraph's contenders
  std::uint32_t until = absent;      ///< hold only: an op that depends on all that the hold depends on
  Seconds on{};                      ///< endless flow only: time after which it pauses; zero: never
  Seconds period{};  ///< endless flow only: time from one start to the next; zero: it does not start again
  Origin origin{};

  static constexpr std::uint32_t absent = std::numeric_limits<std::uint32_t>::max();

  bool operator==(const Op&) const = default;

  /// Background traffic of a neighbouring job: it uses its path from the moment it is ready until all other
  /// ops have ended. No op may depend on it, and it has no queue.
  bool is_endless() const {
    return kind == OpKind::flow && amount == std::numeric_limits<double>::infinity();
  }
};

/// The GPUs on which an op contends with ops of the other kind, and its slowdown under contention.
///
/// While a kernel and a collective are both in flow (after their latency, before their end) on a common GPU,
/// the `cap` of each is divided by its own `slowdown`. Several contenders slow an op no more than one does.
///
/// A kernel that `blocks_collectives` occupies all multiprocessors of its GPU: a collective that gets ready
/// while such kernels are in flow starts its latency only when all of those have ended. Kernels that start
/// later do not delay it further.
struct Contender {
  enum class Kind : std::uint8_t { kernel, collective };
  Kind kind = Kind::kernel;
  double slowdown = 1;              ///< >= 1
  std::vector<std::uint32_t> gpus;  ///< numbers of GPUs, without duplicates
  bool blocks_collectives = false;  ///< kernel only

  bool operator==(const Contender&) const = default;
};

/// Ops and their dependencies. Besides the capacities of the platform, this is all that an engine gets.
class OpGraph {
 public:
  /// Reserves memory, so that adding ops and edges does not reallocate.
  void reserve(std::size_t ops, std::size_t edges);
  OpId add(const Op& op) {
    expects(op.latency >= Seconds{0} && op.amount >= 0 && op.cap > 0 && op.weight > 0,
            "latency and amount of an op must not be negative, its cap and weight must be positive");
    expects(op.kind != OpKind::flow || op.path < paths_.size(), "a flow must have a path");
    expects((op.kind == OpKind::hold) == (op.until < ops_.size()),
            "a hold, and no other op, ends with another op");
    expects(op.queue == Op::absent || op.queue < queues_.size(), "the queue of an op must exist");
    expects(op.contender == Op::absent || op.contender < contenders_.size(),
            "the contender of an op must exist");
    ops_.push_back(op);
    return OpId{ops_.size() - 1};
  }
  /// Makes `after` depend on the end of `before`.
  void add_edge(OpId before, OpId after) {
    expects(before.index() < ops_.size() && after.index() < ops_.size(), "both ops of an edge must exist");
    edges_.push_back({before, after});
  }
  /// Adds a multiset of resources that a flow uses at the same time. A resource that appears k times carries
  /// each unit of the flow k times.
  std::uint32_t add_path(std::vector<ResourceId> resources);
  std::uint32_t add_queue(std::string name);
  std::uint32_t add_contender(Contender contender);

  std::size_t size() const { return ops_.size(); }
  const Op& op(OpId id) const { return ops_[id.index()]; }
  const std::vector<Op>& ops() const { return ops_; }
  const std::vector<ResourceId>& path(std::uint32_t index) const { return paths_[index]; }
  const std::vector<std::vector<ResourceId>>& paths() const { return paths_; }
  const std::vector<Contender>& contenders() const { return contenders_; }
  const std::vector<std::string>& queues() const { return queues_; }

  struct Edge {
    OpId before;
    OpId after;
    bool operator==(const Edge&) const = default;
  };
  const std::vector<Edge>& edges() const { return edges_; }

  bool operator==(const OpGraph&) const = default;

 private:
  std::vector<Op> ops_;
  std::vector<Edge> edges_;
  std::vector<std::vector<ResourceId>> paths_;
  std::vector<Contender> contenders_;
  std::vector<std::string> queues_;
};

/// The successors of each op of a graph as contiguous ranges.
class Successors {
 public:
  explicit Successors(const OpGraph& graph);
  std::span<const OpId> of(OpId op) const;
  /// Number of predecessors of each op, by id. Moves them out of this object.
  std::vector<std::uint32_t> take_predecessor_counts() { return std::move(predecessors_); }

 private:
  std::vector<std::uint32_t> first_;
  std::vector<OpId> after_;
  std::vector<std::uint32_t> predecessors_;
};

}  // namespace gradway
