// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/config/config.hpp"
#include "sim/report/show/lists.hpp"

namespace gradway::cli {

/// The values of a list. @throws ConfigError for empty and repeated values
std::vector<std::string> list_of(std::string_view option, const std::string& text);

/// The platforms of `--platforms`: names and patterns such as "aws-*", each once.
/// @throws ConfigError for patterns that no platform matches; names need not exist
std::vector<std::string> platforms_of(const std::string& text, const DataPath& data);

/// Platforms with one node; those whose file has an error have their name only.
std::vector<report::ListedPlatform> one_node_of_each(const std::vector<std::string>& names,
                                                     const DataPath& data);

}  // namespace gradway::cli
