// SPDX-License-Identifier: Apache-2.0
// Decoders that are read by their keys, and the families that differ from Llama by what the keys do not say.
#include "sim/import/training/hugging_face_decoders.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace gradway {
namespace {

using Model = HuggingFaceModel;
using Spellings = Model::Spellings;

/// What the program of a family does that its keys do not say, and the defaults of its keys.
/// @source transformers' src/transformers/models/NAME/modeling_NAME.py and configuration_NAME.py (read in
/// 2026)
struct Family {
  std::string_view model_type;
  Defaults of{32000, 4096, 11008, 32, 32, 0, 4096};
  std::string_view activation = "silu";
  bool gated = true;
  bool layer_norm = false;
  bool norm_bias = false;             ///< of LayerNorms
  std::string_view blocks{};          ///< empty: sequential
  std::string_view norm_placement{};  ///< empty: before
  std::string_view qk_norm{};         ///< empty: none
  std::string_view qk_norm_key{};     ///< empty: always
  bool qk_norm_default = false;
  bool attention_bias = false;  ///< default of the key
  bool output_follows = true;   ///< the output projection has that bias, too
  std::string_view packed{};
  double rotary_share = 1;
  int window = 0;
  int full_every = 0;
  int no_rotary_every = 0;
  bool sinks = false;
  bool gate = false;
  bool soft_cap = false;
  // Experts; `experts` 0: none unless a key has their number.
  int experts = 0;
  int top_k = 2;
  int expert_mlp = 0;  ///< 0: the MLP's width
  int shared = 0;      ///< shared experts
  bool shared_gate = false;
  int dense_layers = 0;
  int every = 1;
  bool expert_bias = false;
  bool router_bias = false;
};

constexpr auto families = std::to_array<Family>({
    {.model_type = "cohere",
     .of = {256000, 8192, 22528, 40, 64, 0, 8192, 0, true},
     .layer_norm = true,
     .blocks = "parallel_one_norm",
     .qk_norm = "true",
     .qk_norm_key = "use_qk_norm"},
    {.model_type = "cohere2",
     .of = {256000, 8192, 22528, 40, 64, 0, 8192, 0, true},
     .layer_norm = true,
     .blocks = "parallel_one_norm",
     .window = 4096,
     .full_every = 4,
     .no_rotary_every = 4},
    {.model_type = "gemma2",
     .of = {256000, 2304, 9216, 26, 8, 4, 8192, 256, true},
     .activation = "gelu_pytorch_tanh",
     .norm_placement = "both",
     .window = 4096,
     .full_every = 2,
     .soft_cap = true},
    {.model_type = "gemma3_text",
     .of = {262208, 2304, 9216, 26, 8, 4, 131072, 256, true},
     .activation = "gelu_pytorch_tanh",
     .norm_placement = "both",
     .qk_norm = "true",
     .window = 4096,
     .full_every = 6},
    {.model_type = "glm",
     .of = {151552, 4096, 13696, 40, 32, 2, 131072, 128},
     .attention_bias = true,
     .output_follows = false,
     .rotary_share = 0.5},
    {.model_type = "glm4",
     .of = {151552, 4096, 13696, 40, 32, 2, 131072, 128},
     .norm_placement = "both",
     .attention_bias = true,
     .output_follows = false,
     .rotary_share = 0.5},
    {.model_type = "glm4_moe",
     .of = {151552, 4096, 10944, 46, 96, 8, 131072, 128},
     .qk_norm = "true",
     .qk_norm_key = "use_qk_norm",
     .output_follows = false,
     .rotary_share = 0.5,
     .experts = 128,
     .top_k = 8,
     .expert_mlp = 1408,
     .shared = 1,
     .dense_layers = 1,
     .router_bias = true},
    {.model_type = "gpt_oss",
     .of = {201088, 2880, 2880, 36, 64, 8, 131072, 64},
     .attention_bias = true,
     .window = 128,
     .full_every = 2,
     .sinks = true,
     .experts = 128,
     .top_k = 4,
     .expert_bias = true,
     .router_bias = true},
    {.model_type = "granite", .of = {32000, 4096, 11008, 32, 32, 0, 2048}},
    {.model_type = "granitemoe", .of = {32000, 4096, 11008, 32, 32, 0, 2048}, .experts = 8},
    {.model_type = "granitemoeshared", .of = {32000, 4096, 11008, 32, 32, 0, 2048}, .experts = 8},
    {.model_type = "llama4_text",
     .of = {202048, 5120, 16384, 48, 40, 8, 131072, 128},
     .qk_norm = "true",
     .qk_norm_key = "use_qk_norm",
     .qk_norm_default = true,
     .window = 8192,
     .full_every = 4,
     .no_rotary_every = 4,
     .experts = 16,
     .top_k = 1,
     .expert_mlp = 8192,
     .shared = 1},
    {.model_type = "olmo", .of = {50304, 4096, 11008, 32, 32, 0, 2048}, .layer_norm = true},
    {.model_type = "olmo2",
     .of = {50304, 4096, 11008, 32, 32, 0, 2048},
     .norm_placement = "after",
     .qk_norm = "all_heads"},
    {.model_type = "olmo3",
     .of = {50304, 4096, 11008, 32, 32, 0, 2048},
     .norm_placement = "after",
     .qk_norm = "all_heads",
     .window = 4096,
     .full_every = 4},
    {.model_type = "olmoe",
     .of = {50304, 2048, 2048, 16, 16, 0, 4096},
     .qk_norm = "all_heads",
     .experts = 64,
     .top_k = 8},
    {.model_type = "phi3", .of = {32064, 3072, 8192, 32, 32, 0, 4096}, .packed = "sliced"},
    {.model_type = "qwen3_next",
     .of = {151936, 2048, 5632, 48, 16, 2, 32768, 256},
     .qk_norm = "true",
     .rotary_share = 0.25,
     .full_every = 4,
     .gate = true,
     .experts = 512,
     .top_k = 10,
     .expert_mlp = 512,
     .shared = 1,
     .shared_gate = true},
    {.model_type = "smollm3", .of = {128256, 2048, 11008, 36, 16, 4, 32768, 0, true}, .no_rotary_every = 4},
    {.model_type = "starcoder2",
     .of = {49152, 3072, 12288, 30, 24, 2, 4096, 0, true},
     .activation = "gelu_pytorch_tanh",
     .gated = false,
     .layer_norm = true,
     .norm_bias = true,
     .attention_bias = true},
});

bool is_null_or_missing(Model& model, Spellings keys) {
  return !model.settings.has(keys);
}

void read_norms(Model& model, const Family& family) {
  model.put("bias", family.norm_bias);
  model.put("norm", family.layer_norm ? "layer_norm" : "rms_norm");
  if (!family.blocks.empty()) model.put("blocks", std::string{family.blocks});
  if (!family.norm_placement.empty()) model.put("norm_placement", std::string{family.norm_placement});
}

void read_heads(Model& model, const Family& family) {
  model.read_kv_heads(family.of);
  const Spellings key{family.qk_norm_key};
  const bool has_norm =
      !family.qk_norm.empty() && (family.qk_norm_key.empty() || model.flag(key, family.qk_norm_default));
  if (has_norm) model.put("qk_norm", std::string{family.qk_norm});
  if (!family.packed.empty()) model.put("packed_projections", std::string{family.packed});
  if (family.sinks) model.put("attention_sinks", true);
  if (family.gate) model.put("attention_gate", true);
  const bool has_bias = model.flag({"bias"}, false);
  const bool bias = model.flag({"attention_bias", "use_bias"}, family.attention_bias || has_bias);
  const bool qkv = model.flag({"qkv_bias", "use_qkv_bias"}, bias);
  if (qkv != family.norm_bias) model.put("qkv_bias", qkv);
  const bool output =
      model.flag({"attention_out_bias", "attention_output_bias"}, bias && family.output_follows);
  if (output != family.norm_bias) model.put("attention_output_bias", output);
  const bool mlp = model.flag({"mlp_bias", "use_bias"}, has_bias || (!family.gated && family.norm_bias));
  if (mlp != family.norm_bias) model.put("mlp_bias", mlp);
  if (model.flag({"lm_head_bias"}, false)) model.put("output_bias", true);
  const auto share =
      model.settings.number({"partial_rotary_factor", "rope_parameters.partial_rotary_factor"}, 0)
          .value_or(model.settings.number({"rotary_pct"}, 0).value_or(family.rotary_share));
  model.put_rotary_share(share);
}

/// Whether the layers of a list that are not `is` are every n-th one; 0 if they are not.
int period_of(const FileSetting& list, const std::function<bool(const FileSetting&)>& is_nth) {
  const auto count = static_cast<int>(list.entries.size());
  const auto is_nth_layer = [&](int i) { return is_nth(list.entries[static_cast<std::size_t>(i)]); };
  int first = 0;
  while (first < count && !is_nth_layer(first)) ++first;
  const int every = first + 1;
  for (int i = 0; i < count; ++i)
    if (is_nth_layer(i) != ((i + 1) % every == 0)) return -1;
  return first == count ? 0 : every;
}

/// Reads which layers have full attention.
void read_layer_kinds(Model& model, const Family& family) {
  const Spellings types_key = {"layer_types"};
  auto every = model.number({"sliding_window_pattern", "full_attention_interval"}, family.full_every, 0);
  every = model.number({"global_attn_every_n_layers"}, every, 0);
  bool has_linear = false;
  bool has_others = every > 0 || family.window > 0;
  if (const auto* types = model.settings.find(types_key)) {
    const auto is_full = [](const FileSetting& entry) { return entry.text == "full_attention"; };
    every = period_of(*types, is_full);
    model.require(types_key, every >= 0, "gradway supports full attention in every n-th layer only");
    has_others = !std::ranges::all_of(types->entries, is_full);
    for (const auto& entry : types->entries) has_linear = has_linear || entry.text == "linear_attention";
  }
  if (model.settings.has({"linear_num_value_heads"}) || has_linear || family.model_type == "qwen3_next") {
    model.put(
        "linear_attention",
        fmt::format("{{ key_heads: {}, value_heads: {}, key_head_size: {}, value_head_size: {}, "
                    "convolution: {} }}",
                    model.number({"linear_num_key_heads"}, 16), model.number({"linear_num_value_heads"}, 32),
                    model.number({"linear_key_head_dim"}, 128), model.number({"linear_value_head_dim"}, 128),
                    model.number({"linear_conv_kernel_dim"}, 4)));
    return model.put("full_attention_every", std::max(every, 1));
  }
  const Spellings key = {"sliding_window", "attention_chunk_size"};
  const bool is_off = model.settings.is_null(key) || !model.flag({"use_sliding_window"}, true);
  const auto window = is_off ? 0 : model.number(key, family.window);
  model.number({"max_window_layers"}, 0, 0);
  const bool reaches = window > 0 && window < model.sequence;
  if (!reaches || (!has_others && model.settings.has(types_key))) return;
  model.put("window", window);
  if (every > 1) model.put("full_attention_every", every);
}

void read_rotary_layers(Model& model, const Family& family) {
  const Spellings list_key = {"no_rope_layers"};
  auto every = model.number({"no_rope_layer_interval"}, family.no_rotary_every, 0);
  const auto* list = model.settings.find(list_key);
  if (list != nullptr && !list->entries.empty()) {
    every = period_of(*list, [](const FileSetting& entry) { return entry.text == "0"; });
    model.require(list_key, every >= 0, "gradway supports rotary positions in all but every n-th layer only");
  }
  if (every > 0) model.put("no_rotary_every", every);
}

/// Shared experts as a number of experts of equal width.
int read_shared(Model& model, const Family& family, int width) {
  const Spellings count_key = {"n_shared_experts", "num_shared_experts"};
  const Spellings width_key = {"shared_expert_intermediate_size", "shared_intermediate_size"};
  if (!model.settings.has(width_key))
    return is_null_or_missing(model, count_key) ? family.shared : model.number(count_key, 1, 0);
  const auto shared = model.number(width_key, width, 0);
  model.require(
      width_key, shared % width == 0,
      fmt::format("the width {} of the shared expert is not divisible by an expert's, {}", shared, width));
  return shared / width;
}

void read_mlps(Model& model, const Family& family) {
  const Spellings count_key = {"num_local_experts", "num_experts"};
  const auto experts = model.settings.has({"n_routed_experts", "moe_num_experts"})
                           ? model.number({"n_routed_experts", "moe_num_experts"}, 0, 0)
                           : model.number(count_key, family.experts, 0);
  const Spellings mlp_key = {"intermediate_size_mlp", "intermediate_size"};
  if (experts <= 1) return model.put("mlp", model.number(mlp_key, family.of.mlp));
  const bool is_llama4 = family.model_type == "llama4_text";
  const auto width =
      is_llama4 ? model.number({"intermediate_size"}, family.expert_mlp)
                : model.number({"moe_intermediate_size"},
                               family.expert_mlp > 0 ? family.expert_mlp
                                                     : model.number({"intermediate_size"}, family.of.mlp));
  const auto top_k = model.number({"num_experts_per_tok", "experts_per_token"}, family.top_k);
  auto dense = model.number({"first_k_dense_replace"}, family.dense_layers, 0);
  if (model.settings.has({"mlp_only_layers"})) dense = std::max(dense, model.read_dense_layers());
  const auto every = model.number({"interleave_moe_layer_step", "decoder_sparse_step"}, family.every);
  const Spellings list_key = {"moe_layers"};
  if (const auto* list = model.settings.find(list_key)) {
    for (std::size_t i = 0; i < list->entries.size(); ++i)
      model.require(list_key, list->entries[i].text == std::to_string((i + 1) * every - 1),
                    "gradway supports experts in every n-th layer only");
  }
  if (dense > 0 || every > 1) {
    model.put("mlp", is_llama4 ? model.number({"intermediate_size_mlp"}, family.of.mlp)
                               : model.number({"intermediate_size"}, family.of.mlp));
  } else {
    model.number(mlp_key, family.of.mlp);
  }
  const auto shared = read_shared(model, family, width);
  std::string further_keys;
  const auto add = [&](const char* key, auto value) { further_keys += fmt::format(", {}: {}", key, value); };
  if (shared > 0) add("shared", shared);
  if (shared > 0 && family.shared_gate) add("shared_gate", true);
  if (dense > 0) add("dense_layers", dense);
  if (every > 1) add("every", every);
  if (family.expert_bias) add("bias", true);
  if (family.router_bias) add("router_bias", true);
  model.put_experts(experts, top_k, width, further_keys);
}

void read(Model& model, const Family& family) {
  model.read_blocks(family.of);
  model.read_sequence({"max_position_embeddings"}, family.of.positions);
  read_norms(model, family);
  model.put("positions", "rotary");
  model.read_activation({"hidden_act", "hidden_activation"}, std::string{family.activation}, family.gated);
  read_heads(model, family);
  read_layer_kinds(model, family);
  read_rotary_layers(model, family);
  const Spellings cap_key = {"final_logit_softcapping"};
  if (!model.settings.is_null(cap_key) && (family.soft_cap || model.settings.has(cap_key))) {
    model.settings.find(cap_key);
    model.put("logit_soft_cap", true);
  }
  model.read_dropout({"resid_pdrop", "residual_dropout"}, 0, 0);
  read_mlps(model, family);
}

/// A family for a model_type that gradway does not know, by the keys of the file.
Family family_of_keys(Model& model) {
  Family family{.model_type = {}};
  family.layer_norm = !model.settings.has({"rms_norm_eps", "norm_eps"}) &&
                      model.settings.has({"layer_norm_eps", "layer_norm_epsilon"});
  const auto activation = model.settings.text({"hidden_act", "hidden_activation"}).value_or("silu");
  family.gated = !family.layer_norm || activation == "silu" || activation == "swish";
  family.norm_bias = family.layer_norm && !family.gated;
  family.attention_bias = family.norm_bias;
  family.gate = model.flag({"attn_output_gate"}, false);
  for (const auto* key : {"use_qk_norm", "qk_norm", "qk_layernorm"}) {
    if (!model.settings.has({key})) continue;
    family.qk_norm = "true";
    family.qk_norm_key = key;
  }
  return family;
}

}  // namespace

bool read_known_decoder(HuggingFaceModel& model, std::string_view model_type) {
  const auto family = std::ranges::find(families, model_type, &Family::model_type);
  if (family == families.end()) return false;
  read(model, *family);
  return true;
}

std::vector<std::string_view> known_decoders() {
  std::vector<std::string_view> names;
  for (const auto& family : families) names.push_back(family.model_type);
  return names;
}

std::vector<std::string_view> missing_decoder_keys(HuggingFaceModel& model) {
  std::vector<std::string_view> missing;
  for (const auto key : {"hidden_size", "num_hidden_layers", "num_attention_heads", "vocab_size"})
    if (!model.settings.has({key})) missing.push_back(key);
  if (!model.settings.has({"intermediate_size", "moe_intermediate_size"}))
    missing.push_back("intermediate_size");
  return missing;
}

void read_decoder_by_keys(HuggingFaceModel& model) {
  read(model, family_of_keys(model));
}

}  // namespace gradway
