// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sim/config/find/scenario_keys.hpp"
#include "sim/config/yaml/reader.hpp"

namespace gradway::config {

/// Checks NCCL's variables and writes each value in one way: levels by name in capitals, lists with NCCL's
/// own spelling, numbers without ornament. Names as in NCCL's documentation; those that gradway cannot honour
/// are refused.
std::map<std::string, std::string> read_nccl(Reader& nccl);

/// Whether NCCL has the variable and gradway does not model it.
bool is_unmodelled_variable(std::string_view name);

/// All variables that `read_nccl` takes, as keys of a scenario.
std::vector<ScenarioKey> nccl_keys();

}  // namespace gradway::config
