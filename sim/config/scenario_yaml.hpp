// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sim/config/config.hpp"

namespace gradway {

/// A scenario with some keys changed, as the YAML of a file that needs neither the file that it is based on
/// nor overrides. @throws ConfigError with the problems of the file and of the overrides; files that it names
/// are not read
std::string scenario_yaml(const std::string& scenario, const std::vector<Override>& overrides,
                          const DataPath& data);

}  // namespace gradway
