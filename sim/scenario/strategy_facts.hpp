// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "sim/scenario/job.hpp"

namespace gradway {

/// Properties of a strategy that other folders need. The initial values are those of a strategy that does not
/// change the model. Each strategy states its differences in strategy_facts.cpp, and a new one does not
/// compile without them.
struct StrategyFacts {
  bool trains = true;                        ///< false: repeated calls of one collective, without a model
  bool exchanges = true;                     ///< false: ranks exchange neither gradients nor parameters
  Framework framework = Framework::pytorch;  ///< implements the strategy
  bool half_parameters = false;              ///< the GPU computes with 16-bit parameters, without autocast
  bool sets_formats = false;         ///< the strategy sets the format of parameters; false: the model does
  bool has_hooks = false;            ///< Python hooks run around each module of the model
  bool shards_optimizer = false;     ///< each rank updates only its shard of the parameters
  bool offloads = false;             ///< the CPU runs the optimizer in host memory
  bool makes_states_early = false;   ///< optimizer states exist before the first step
  bool has_flat_parameters = false;  ///< parameters of a group are parts of one tensor, in one format
  bool gradients_are_views = false;  ///< gradients are views into the communication buckets
  bool adds_in_fp32 = false;         ///< the products of weight gradients accumulate into fp32 buffers
  std::string_view fp8_gather{};     ///< key that enables the gathering of weights in fp8, if it is set
};

StrategyFacts facts_of(const Strategy& strategy);

inline bool is_ddp(const Strategy& strategy) {
  return std::holds_alternative<Ddp>(strategy);
}

/// The settings of a strategy of this kind; those of another kind are at their defaults.
template <class Settings>
Settings settings_or_defaults(const Strategy& strategy) {
  const auto* settings = std::get_if<Settings>(&strategy);
  return settings != nullptr ? *settings : Settings{};
}

/// The number of replicas of the sharded group (HSDP). Null if the strategy has none.
int* replicate_of(Strategy& strategy);
const int* replicate_of(const Strategy& strategy);

}  // namespace gradway
