// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

#include "sim/scenario/job.hpp"

namespace gradway {

/// What is published about the number of steps to the same quality with compressed gradients.
struct LossySteps {
  bool is_general = false;     ///< as many steps as without compression, for models of any kind
  std::string_view holds_for;  ///< else: for these only, and no factor is published for others
  std::string_view source;
};

/// Empty without compression.
std::optional<LossySteps> lossy_steps(CommHook hook);

/// The hook of a strategy. `none` for strategies other than DDP.
CommHook hook_of(const Strategy& strategy);

}  // namespace gradway
