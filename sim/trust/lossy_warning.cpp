// SPDX-License-Identifier: Apache-2.0
#include "sim/trust/lossy_warning.hpp"

#include "sim/base/make_warning.hpp"
#include "sim/scenario/lossy_steps.hpp"
#include "sim/scenario/strategy_words.hpp"

namespace gradway {

std::optional<Warning> unknown_lossy_steps(const Strategy& strategy) {
  const auto hook = hook_of(strategy);
  const auto published = lossy_steps(hook);
  if (!published || published->is_general) return std::nullopt;
  return make_warning<"unknown-lossy-steps", "hook", "model", "source">(name_of(hook), published->holds_for,
                                                                        published->source);
}

}  // namespace gradway
