// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/run/simulate.hpp"

namespace gradway::report {

/// How much of a link or memory is in use, for pictures of a run.
struct LinkTrack {
  std::string name;
  int node = 0;             ///< that it belongs to; -1: between switches of the fabric
  std::size_t alike = 0;    ///< others that do the same at the same time
  bool has_others = false;  ///< a neighbour's traffic is on it

  struct Point {
    std::int64_t at_ns = 0;
    double own = 0;     ///< by the job, as a fraction of the capacity
    double others = 0;  ///< by neighbours
  };
  std::vector<Point> points;  ///< each holds until the next, the last to the end; idle before the first
};

/// The busiest links and memories of the reported step, busiest first. Those that do the same at the same
/// time stand once.
std::vector<LinkTrack> busiest_links(const Run& run, std::size_t most);

}  // namespace gradway::report
