// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sim/engine/engine.hpp"
#include "sim/lower/communicators.hpp"

namespace gradway::test {

/// Time of a collective on an engine without contention.
inline Seconds time_alone(const Communicator& lowering, CollectiveKind kind, Bytes size,
                          const Platform& platform, const char* engine) {
  const auto lowered = lowering.lower(kind, size);
  OpGraph graph;
  for (const auto& flow : lowered.flows) {
    Op op;
    op.kind = OpKind::flow;
    op.latency = lowered.latency;
    op.amount = flow.amount.value();
    op.cap = flow.cap;
    op.path = graph.add_path(flow.path);
    graph.add(op);
  }
  if (lowered.flows.empty()) {
    Op op;
    op.kind = OpKind::delay;
    op.latency = lowered.latency;
    graph.add(op);
  }
  return choose_engine(engine).engine->run(platform, graph).makespan();
}

}  // namespace gradway::test
