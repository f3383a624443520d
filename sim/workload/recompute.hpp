// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace gradway {

/// Activation checkpointing: what the backward pass recomputes.
enum class Recompute : std::uint8_t {
  none,
  selective,     ///< attention only; queries, keys and values are kept (Megatron's selective)
  selective_op,  ///< blocks except for attention and every second product (torchtitan's selective op)
  full           ///< whole blocks, of which only the inputs are kept
};
inline constexpr std::array<std::string_view, 4> recompute_words{"none", "selective", "selective_op", "full"};
constexpr std::string_view name_of(Recompute recompute) {
  return recompute_words[static_cast<std::size_t>(recompute)];
}

/// What selective recomputes in Megatron-Core. @source its --recompute-modules,
/// transformer/transformer_config.py
enum class RecomputedModule : std::uint8_t {
  core_attn,
  layernorm,    ///< norms that no projection does itself: before experts and latent attention
  moe_act,      ///< activations of experts
  mla_up_proj,  ///< from latent vectors to heads, with norms and rotary positions
  mlp,          ///< MLPs of dense layers
  shared_experts,
  moe  ///< whole layers of experts
};
inline constexpr std::array<std::string_view, 7> recomputed_module_words{
    "core_attn", "layernorm", "moe_act", "mla_up_proj", "mlp", "shared_experts", "moe"};

/// A set of modules.
class RecomputedModules {
 public:
  constexpr void add(RecomputedModule module) { bits_ |= bit(module); }
  constexpr bool has(RecomputedModule module) const { return (bits_ & bit(module)) != 0; }
  bool operator==(const RecomputedModules&) const = default;

 private:
  static constexpr unsigned bit(RecomputedModule module) { return 1U << static_cast<unsigned>(module); }
  unsigned bits_ = 0;
};

/// Reads "layernorm, moe_act"; commas may be left out, brackets may be around it. @return the first unknown
/// word in `unknown`, else ""
struct ReadModules {
  RecomputedModules modules;
  std::string_view unknown;
};
ReadModules read_recomputed_modules(std::string_view words);
/// "layernorm, moe_act"
std::string in_words(const RecomputedModules& modules);

/// Whether a module's activations are kept as well as its result: Megatron-Core frees the results of the
/// others, which are recomputed (tensor_parallel/random.py, CheckpointWithoutOutput).
constexpr bool keeps_result(RecomputedModule module) {
  return module >= RecomputedModule::mlp;
}

/// Whether blocks are recomputed before their backward pass.
constexpr bool runs_blocks_again(Recompute recompute) {
  return recompute == Recompute::full || recompute == Recompute::selective_op;
}

}  // namespace gradway
