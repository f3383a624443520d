// SPDX-License-Identifier: Apache-2.0
#include "sim/trust/lossy_warning.hpp"

#include <string>

#include "sim/scenario/lossy_steps.hpp"
#include "sim/scenario/strategy_words.hpp"

namespace gradway {

std::optional<Warning> unknown_lossy_steps(const Strategy& strategy) {
  const auto hook = hook_of(strategy);
  const auto published = lossy_steps(hook);
  if (!published || published->is_general) return std::nullopt;
  return warning::UnknownLossySteps{std::string{name_of(hook)}, std::string{published->holds_for},
                                    std::string{published->source}};
}

}  // namespace gradway
