// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "sim/base/warning.hpp"
#include "sim/scenario/job.hpp"

namespace gradway {

/// Warns if a strategy's compression needs an unknown number of steps to the loss without it.
std::optional<Warning> unknown_lossy_steps(const Strategy& strategy);

}  // namespace gradway
