// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "sim/config/find/scenario_keys.hpp"

namespace gradway::config {

/// A kind of file that scenarios name.
struct FileKind {
  std::string_view name;
  std::string_view title;
  std::vector<ScenarioKey> (*keys)();  ///< all except `schema` and `based_on`, groups before their keys
};
std::span<const FileKind> file_kinds();

}  // namespace gradway::config
