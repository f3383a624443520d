// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "sim/graph/op_graph.hpp"
#include "sim/platform/platform.hpp"

namespace gradway::testing {

/// SplitMix64 (Steele, Lea, Flood 2014): the same numbers on every machine, unlike
/// std::uniform_int_distribution.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : state_{seed} {}
  std::uint64_t bits() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }
  /// From 0 to sides - 1.
  std::size_t roll(std::size_t sides) { return bits() % sides; }
  bool chance(double probability) { return unit() < probability; }
  double unit() { return static_cast<double>(bits() >> 11) * 0x1p-53; }
  /// Log-uniform.
  double between(double low, double high) { return low * std::pow(high / low, unit()); }

 private:
  std::uint64_t state_;
};

struct RandomCase {
  Platform platform;
  OpGraph graph;
};

/// Parameters of a random case. Round numbers make events coincide; others make all event times different.
struct RandomShape {
  std::size_t resources = 6;
  std::size_t ops = 40;
  std::size_t gpus = 3;
  std::size_t queues = 3;
  double edge_share = 0.6;  ///< probability that an op depends on an earlier one
  bool round = false;
};

inline double amount_of(Dice& dice, bool round) {
  return round ? 1e6 * static_cast<double>(1 + dice.roll(4)) : dice.between(1, 1e9);
}

inline void add_random_sides(Dice& dice, const RandomShape& shape, OpGraph& graph) {
  for (std::uint32_t gpu = 0; gpu < shape.gpus; ++gpu) {
    graph.add_contender(
        {Contender::Kind::kernel, dice.chance(0.2) ? 1 : 1 + dice.unit(), {gpu}, dice.chance(0.5)});
  }
  for (int i = 0; i < 2; ++i) {
    Contender side{Contender::Kind::collective, shape.round ? 2 : 1 + dice.unit(), {}};
    for (std::uint32_t gpu = 0; gpu < shape.gpus; ++gpu)
      if (dice.chance(0.7)) side.gpus.push_back(gpu);
    graph.add_contender(side);
  }
}

inline void add_random_path(Dice& dice, const RandomShape& shape, OpGraph& graph) {
  std::vector<ResourceId> path;
  for (std::size_t hops = dice.roll(5); hops > 0; --hops) path.emplace_back(dice.roll(shape.resources));
  if (!path.empty() && dice.chance(0.3)) path.push_back(path.front());
  graph.add_path(path);
}

inline Op random_op(Dice& dice, const RandomShape& shape, const OpGraph& graph) {
  Op op;
  const std::size_t kind = dice.roll(10);
  op.kind = kind == 0 ? OpKind::join : kind == 1 ? OpKind::delay : OpKind::flow;
  if (dice.chance(0.6)) op.latency = Seconds{shape.round ? 1e-5 : dice.between(1e-7, 1e-3)};
  if (dice.chance(0.5)) op.queue = static_cast<std::uint32_t>(dice.roll(graph.queues().size()));
  if (op.kind != OpKind::flow) return op;
  op.amount = dice.chance(0.05) ? 0 : amount_of(dice, shape.round);
  if (dice.chance(0.4)) op.cap = shape.round ? 2.5e9 : dice.between(1e7, 1e10);
  if (dice.chance(0.3)) op.weight = shape.round ? 2 : dice.between(0.1, 10);
  op.path = static_cast<std::uint32_t>(dice.roll(graph.paths().size()));
  if (dice.chance(0.6)) op.contender = static_cast<std::uint32_t>(dice.roll(graph.contenders().size()));
  return op;
}

/// Collectives that wait for the other predecessors of an op.
inline void add_random_holds(Dice& dice, const RandomShape& shape, OpGraph& graph) {
  const auto edges = graph.edges();
  for (const auto& edge : edges) {
    if (!dice.chance(0.1)) continue;
    Op hold;
    hold.kind = OpKind::hold;
    hold.contender = static_cast<std::uint32_t>(shape.gpus + dice.roll(2));
    hold.until = static_cast<std::uint32_t>(edge.after.index());
    graph.add_edge(edge.before, graph.add(hold));
  }
}

/// A graph without deadlocks. Many ops have no predecessors and start at the same time.
inline RandomCase random_case(std::uint64_t seed, const RandomShape& shape) {
  Dice dice{seed};
  RandomCase made;
  for (std::size_t i = 0; i < shape.resources; ++i) {
    const double capacity =
        shape.round ? 1e9 * static_cast<double>(1 + dice.roll(4)) : dice.between(1e8, 1e11);
    made.platform.resources.push_back(
        {ResourceKind::link, 0, dice.chance(0.1) ? std::numeric_limits<double>::infinity() : capacity});
  }
  for (std::size_t i = 0; i < shape.queues; ++i) made.graph.add_queue("q" + std::to_string(i));
  for (std::size_t i = 0; i < 2 * shape.resources; ++i) add_random_path(dice, shape, made.graph);
  add_random_sides(dice, shape, made.graph);
  for (std::size_t i = 0; i < shape.ops; ++i) {
    const OpId op = made.graph.add(random_op(dice, shape, made.graph));
    while (i > 0 && dice.chance(shape.edge_share)) made.graph.add_edge(OpId{dice.roll(i)}, op);
  }
  add_random_holds(dice, shape, made.graph);
  return made;
}

}  // namespace gradway::testing
