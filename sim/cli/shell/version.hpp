// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sim/config/config.hpp"

namespace gradway::cli {

/// A digest of what gradway brings along: of the names and contents of all YAML files of the installed data.
std::string data_digest(const DataPath& data);

}  // namespace gradway::cli
