// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <list>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/mutex.hpp"
#include "sim/engine/timeline.hpp"
#include "sim/graph/op_graph.hpp"
#include "sim/platform/platform.hpp"

namespace gradway {

/// Timelines of finished runs, so that equal graphs are simulated once: points of a sweep often differ in
/// settings that do not change the step. A timeline depends on the engine, on the graph and on the rates of
/// the resources along its paths, all of which are compared. Thread-safe.
class TimelineCache {
 public:
  /// Removes the timeline of an equal graph from the cache. Nothing is copied; give it back with `keep`.
  /// @return empty if there is none
  std::optional<Timeline> take(const std::string& engine, const Platform& platform, const OpGraph& graph);
  /// Keeps a finished run that was checked. Drops those that were not used for longest if there are too many
  /// ops.
  void keep(const std::string& engine, const Platform& platform, OpGraph graph, Timeline timeline);

 private:
  struct Entry {
    std::string engine;
    std::vector<double> rates;  ///< of the resources of all paths, in their order
    OpGraph graph;
    Timeline timeline;
  };

  Mutex mutex_;
  std::list<Entry> entries_;  ///< the last one kept comes first
  std::size_t ops_ = 0;       ///< of all entries
};

}  // namespace gradway
