// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/run/simulate.hpp"

namespace gradway::report {

/// Use of a link or memory over time, for traces and pages.
struct LinkTrack {
  std::string name;
  int node = 0;             ///< -1: between switches of the fabric
  std::size_t alike = 0;    ///< number of other links with identical use
  bool has_others = false;  ///< whether it carries a neighbour's traffic

  struct Point {
    std::int64_t at_ns = 0;
    double own = 0;     ///< use by the job, as a fraction of the capacity
    double others = 0;  ///< use by neighbours
  };
  std::vector<Point> points;  ///< each holds until the next, the last until the end; idle before the first
};

/// The busiest links and memories of the reported step, busiest first. Links with identical use are listed
/// once.
std::vector<LinkTrack> busiest_links(const Run& run, std::size_t most);

}  // namespace gradway::report
