// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sim/config/find/scenario_keys.hpp"
#include "sim/config/yaml/reader.hpp"

namespace gradway::config {

/// Reads NCCL's environment variables and normalises their values: path levels by name in capitals, lists in
/// NCCL's spelling. Variables that gradway does not support are errors.
std::map<std::string, std::string> read_nccl(Reader& nccl);

/// The variables of a process's environment that affect predictions, normalised as by `read_nccl`. Those with
/// values that gradway does not model are left out.
std::map<std::string, std::string> modelled_variables(const std::map<std::string, std::string>& environment);

/// What to do instead of setting a variable that NCCL has but gradway does not support; "" for others.
std::string hint_for_unsupported_nccl_variable(std::string_view name);

/// All variables that `read_nccl` accepts, as keys of a scenario.
std::vector<ScenarioKey> nccl_keys();

}  // namespace gradway::config
