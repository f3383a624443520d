// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/config/config.hpp"
#include "sim/report/show/lists.hpp"

namespace CLI {
class App;
}

namespace gradway::cli {

/// The values of a list. @throws ConfigError for empty and repeated values
std::vector<std::string> list_of(std::string_view option, const std::string& text);

/// The platforms of `--platforms`, each once: names, and patterns such as "aws-*" and "*h100*", which their
/// names or their GPUs match. @param text empty: all
/// @param gpu models of GPUs as in `--gpu`, "h100,h200", that the platforms must have; empty: any
/// @throws ConfigError for patterns and GPUs that no platform matches; names need not exist
std::vector<std::string> platforms_of(const std::string& text, const DataPath& data,
                                      const std::string& gpu = {});

/// Adds `--platforms` and `--gpu`, for `platforms_of`.
void add_platforms(CLI::App& app, std::string& platforms, std::string& gpu);

/// Platforms with one node; those whose file has an error have their name only.
std::vector<report::ListedPlatform> one_node_of_each(const std::vector<std::string>& names,
                                                     const DataPath& data);

}  // namespace gradway::cli
