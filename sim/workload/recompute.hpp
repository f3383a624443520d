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

/// Modules whose saved tensors wait in host memory. @source Megatron-Core's --offload-modules,
/// transformer/transformer_config.py
enum class OffloadedModule : std::uint8_t {
  attn_norm,  ///< norms that no projection does itself, before attention and before MLPs
  mlp_norm,
  qkv_linear,
  core_attn,
  attn_proj,
  expert_fc1,
  moe_act,
  all  ///< all that blocks save (torchtune's and TRL's OffloadActivations)
};
inline constexpr std::array<std::string_view, 8> offloaded_module_words{
    "attn_norm", "mlp_norm", "qkv_linear", "core_attn", "attn_proj", "expert_fc1", "moe_act", "all"};

/// A set of modules.
template <class Module>
class ModuleSet {
 public:
  constexpr void add(Module module) { bits_ |= bit(module); }
  constexpr bool has(Module module) const { return (bits_ & bit(module)) != 0; }
  constexpr bool empty() const { return bits_ == 0; }
  bool operator==(const ModuleSet&) const = default;

 private:
  static constexpr unsigned bit(Module module) { return 1U << static_cast<unsigned>(module); }
  unsigned bits_ = 0;
};
using RecomputedModules = ModuleSet<RecomputedModule>;
using OffloadedModules = ModuleSet<OffloadedModule>;

/// Reads "layernorm, moe_act"; commas may be left out, brackets may be around it. @return the first unknown
/// word in `unknown`, else ""
template <class Module>
struct ReadModules {
  ModuleSet<Module> modules;
  std::string_view unknown;
};
ReadModules<RecomputedModule> read_recomputed_modules(std::string_view words);
ReadModules<OffloadedModule> read_offloaded_modules(std::string_view words);
/// "layernorm, moe_act"
std::string in_words(const RecomputedModules& modules);
std::string in_words(const OffloadedModules& modules);

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
