// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace gradway::cli {

/// Adds `--engine NAME`; `name` holds the default.
void add_engine(CLI::App& app, std::string& name);

/// @throws ConfigError with the nearest name if there is no such engine
void check_engine(const std::string& name);

}  // namespace gradway::cli
