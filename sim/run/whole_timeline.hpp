// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "sim/run/simulate.hpp"

namespace gradway {

/// The run with all its micro-batches, to draw them. Empty if it has them, or if they are so many that a
/// period has to stand for those like it.
std::optional<Run> with_whole_timeline(const Run& run, std::string_view engine);

}  // namespace gradway
