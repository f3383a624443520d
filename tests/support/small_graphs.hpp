// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <catch2/catch.hpp>
#include <limits>
#include <string>
#include <vector>

#include "sim/engine/engine.hpp"
#include "tests/support/tolerances.hpp"

namespace gradway::testing {

/// A platform that consists of resources with these capacities.
inline Platform resources_of(const std::vector<double>& capacities) {
  Platform platform;
  for (const double capacity : capacities) {
    platform.resources.push_back({ResourceKind::link, 0, capacity});
  }
  return platform;
}

/// A path over resources by number; repeated numbers are used repeatedly.
inline std::uint32_t path_over(OpGraph& graph, const std::vector<std::size_t>& resources) {
  std::vector<ResourceId> path;
  for (const std::size_t resource : resources) path.emplace_back(resource);
  return graph.add_path(path);
}

inline Op flow_op(double amount, std::uint32_t path) {
  return {.kind = OpKind::flow, .amount = amount, .path = path};
}

inline Op delay_op(double seconds) {
  return {.kind = OpKind::delay, .latency = Seconds{seconds}};
}

inline Op in_queue(Op op, std::uint32_t queue) {
  op.queue = queue;
  return op;
}

inline Timeline run_with(const std::string& engine, const Platform& platform, const OpGraph& graph) {
  const Timeline timeline = choose_engine(engine).engine->run(platform, graph);
  check(timeline, graph);
  check_amounts(timeline, graph, platform);
  return timeline;
}

inline Approx closed_form(double expected) {
  return Approx(expected).epsilon(tolerance::closed_form).margin(0);
}

inline double end_of(const Timeline& timeline, OpId op) {
  return timeline.end[op.index()].value();
}
inline double start_of(const Timeline& timeline, OpId op) {
  return timeline.start[op.index()].value();
}

}  // namespace gradway::testing
