// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sim/platform/platform.hpp"

namespace gradway::report {

/// One link, or two links of the same kind in opposite directions.
struct Connection {
  const Link* there = nullptr;
  const Link* back = nullptr;  ///< null if the connection is unidirectional
};

/// The connections that links form, in the order of the links.
std::vector<Connection> connections(const std::vector<Link>& links);

}  // namespace gradway::report
