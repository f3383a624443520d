// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>

#include "sim/scenario/job.hpp"

namespace gradway {

/// Names of communication hooks in a scenario, in the order of the enum.
inline constexpr std::array<std::string_view, 4> hook_words{"none", "fp16", "bf16", "powersgd"};

/// Names of FSDP1's sharding strategies and prefetch modes in a scenario, in the order of the enums.
inline constexpr std::array<std::string_view, 2> sharding_words{"full_shard", "shard_grad_op"};
inline constexpr std::array<std::string_view, 3> prefetch_words{"pre", "post", "none"};

/// Names of strategies in a scenario, in the order of the variant.
inline constexpr std::array<std::string_view, std::variant_size_v<Strategy>> strategy_words{
    "ddp", "none", "collective", "fsdp", "fsdp1", "zero", "distributed_optimizer"};

constexpr std::string_view name_of(CommHook hook) {
  return hook_words[static_cast<std::size_t>(hook)];
}

constexpr std::string_view name_of(Fsdp1::Sharding sharding) {
  return sharding_words[static_cast<std::size_t>(sharding)];
}
constexpr std::string_view name_of(Fsdp1::Prefetch prefetch) {
  return prefetch_words[static_cast<std::size_t>(prefetch)];
}

constexpr std::string_view name_of(const Strategy& strategy) {
  return strategy_words[strategy.index()];
}

}  // namespace gradway
