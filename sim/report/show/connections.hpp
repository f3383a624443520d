// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sim/platform/platform.hpp"

namespace gradway::report {

/// A connection: one link, or two in opposite directions.
struct Connection {
  const Link* there = nullptr;
  const Link* back = nullptr;  ///< null if it goes one way
};

/// Links in the order in which they stand, each with the one that goes back, if there is one of its kind.
std::vector<Connection> connections(const std::vector<Link>& links);

}  // namespace gradway::report
