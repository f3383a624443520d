// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "sim/platform/platform.hpp"
#include "sim/report/format/style.hpp"

namespace gradway::report {

/// A platform that a name can stand for.
struct ListedPlatform {
  std::string name;
  std::optional<Platform> platform;  ///< one node of it; empty if its file is wrong
};

/// A table, one row a platform: GPUs of a node, what a GPU sends to others in it and a node to others, the
/// price. By name, numbers by value; platforms made up for analysis come last. It is as wide as it must be.
void write_platforms(std::ostream& out, std::vector<ListedPlatform> listed, const Style& style);

/// The same as one JSON document, in the same order; what is not known is null.
void write_platforms_json(std::ostream& out, std::vector<ListedPlatform> listed);

}  // namespace gradway::report
