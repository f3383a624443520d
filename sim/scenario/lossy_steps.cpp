// SPDX-License-Identifier: Apache-2.0
#include "sim/scenario/lossy_steps.hpp"
#include "sim/scenario/strategy_facts.hpp"

namespace gradway {

std::optional<LossySteps> lossy_steps(CommHook hook) {
  switch (hook) {
    case CommHook::none:
      return std::nullopt;
    case CommHook::fp16:
      return LossySteps{.is_general = true,
                        .holds_for = {},
                        .source = "Micikevicius et al., arXiv 1710.03740, with loss scaling"};
    case CommHook::bf16:
      return LossySteps{.is_general = true, .holds_for = {}, .source = "Kalamkar et al., arXiv 1905.12322"};
    case CommHook::powersgd:
      // That it need not converge is shown by Xie et al., arXiv 2509.11254.
      return LossySteps{.holds_for = "the convolutional networks and LSTMs of its authors",
                        .source = "Vogels et al., arXiv 1905.13727"};
  }
  return std::nullopt;
}

CommHook hook_of(const Strategy& strategy) {
  return settings_or_defaults<Ddp>(strategy).comm_hook;
}

}  // namespace gradway
