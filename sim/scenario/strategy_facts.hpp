// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "sim/scenario/job.hpp"

namespace gradway {

/// What other stages ask about a strategy. The initial values are those of a strategy that leaves the model
/// as it is; each strategy states what differs (strategy_facts.cpp), and a new one does not compile until it
/// does.
struct StrategyFacts {
  bool trains = true;     ///< false: one collective is called over and over, without a model
  bool exchanges = true;  ///< false: each rank works alone
  Framework framework = Framework::pytorch;  ///< that implements the strategy
  bool half_parameters = false;      ///< the GPU computes with parameters of 16 bits, without autocast
  bool sets_formats = false;         ///< it sets the format of parameters; false: the model does
  bool has_hooks = false;            ///< Python code runs around each part of the model
  bool shards_optimizer = false;     ///< each rank steps only its share of the parameters
  bool offloads = false;             ///< the CPU steps the parameters, in host memory
  bool trains_frozen = true;         ///< it is simulated with frozen parameters
  bool gradients_are_views = false;  ///< gradients are views into the communication buckets
  bool adds_in_fp32 = false;         ///< products add weights' gradients to buffers in fp32
  std::string_view fp8_gather{};     ///< the key that gathers weights in fp8, if it is set
};

StrategyFacts facts_of(const Strategy& strategy);

inline bool is_ddp(const Strategy& strategy) {
  return std::holds_alternative<Ddp>(strategy);
}

/// How often the sharded group is repeated (HSDP), to read and to set. Null if the strategy cannot repeat it.
int* replicate_of(Strategy& strategy);
const int* replicate_of(const Strategy& strategy);

}  // namespace gradway
