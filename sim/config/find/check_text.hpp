// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sim/config/config.hpp"

namespace gradway {

/// Reads a text as a file of that kind, as it will be read once it is written: for what gradway itself
/// writes. What other files it names is not looked for.
/// @pre a platform, GPU, model or calibration
/// @throws ConfigError with every problem, their places in the text
void check_text(DataKind kind, const std::string& text);

}  // namespace gradway
