// SPDX-License-Identifier: Apache-2.0
#include "sim/import/training/scenario_draft.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/import/training/hugging_face_keys.hpp"
#include "sim/import/training/hugging_face_model.hpp"

namespace gradway {
namespace {

using Model = HuggingFaceModel;
using Spellings = Model::Spellings;

void read_llama(Model& model) {
  const Defaults of{32000, 4096, 11008, 32, 32, 0, 2048};
  model.read_llama_like(of);
  model.read_kv_heads(of);
  model.read_attention_bias();
  if (model.flag({"mlp_bias"}, false)) model.put("mlp_bias", true);
  model.read_mlp(of);
}

void read_mistral(Model& model) {
  const Defaults of{32000, 4096, 14336, 32, 32, 8, 131072};
  model.read_llama_like(of);
  model.read_kv_heads(of);
  model.read_mlp(of);
  model.read_window(4096, true);
}

void read_mixtral(Model& model) {
  const Defaults of{32000, 4096, 14336, 32, 32, 8, 131072};
  model.read_llama_like(of);
  model.read_kv_heads(of);
  model.read_window(0, true);
  model.put_experts(model.number({"num_local_experts", "num_experts"}, 8),
                    model.number({"num_experts_per_tok"}, 2), model.number({"intermediate_size"}, of.mlp));
}

void read_qwen2(Model& model) {
  const Defaults of{151936, 4096, 22016, 32, 32, 32, 32768};
  model.read_llama_like(of);
  model.read_kv_heads(of);
  model.put("qkv_bias", true);
  model.read_mlp(of);
  model.read_window(4096, model.flag({"use_sliding_window"}, false));
}

void read_qwen2_moe(Model& model) {
  const Defaults of{151936, 2048, 5632, 24, 16, 16, 32768};
  model.read_llama_like(of);
  model.read_kv_heads(of);
  if (model.flag({"qkv_bias"}, true)) model.put("qkv_bias", true);
  model.read_window(4096, model.flag({"use_sliding_window"}, false));
  const auto width = model.number({"moe_intermediate_size"}, 1408);
  const Spellings shared_key = {"shared_expert_intermediate_size"};
  const auto shared = model.number(shared_key, 5632);
  model.require(
      shared_key, shared % width == 0,
      fmt::format("the width {} of the shared expert is not divisible by an expert's, {}", shared, width));
  const auto dense = model.read_dense_layers();
  if (dense > 0) model.read_mlp(of);
  model.put_experts(model.number({"num_experts"}, 60), model.number({"num_experts_per_tok"}, 4), width,
                    fmt::format(", shared: {}, shared_gate: true, dense_layers: {}", shared / width, dense));
}

void read_qwen3(Model& model) {
  const Defaults of{151936, 4096, 22016, 32, 32, 32, 32768, 128};
  model.read_llama_like(of);
  model.read_kv_heads(of);
  model.put("qk_norm", true);
  model.read_attention_bias();
  model.read_mlp(of);
  model.read_window(4096, model.flag({"use_sliding_window"}, false));
}

void read_qwen3_moe(Model& model) {
  const Defaults of{151936, 2048, 6144, 24, 32, 4, 32768};
  model.read_llama_like(of);
  model.read_kv_heads(of);
  model.put("qk_norm", true);
  model.read_attention_bias();
  model.read_window(4096, model.flag({"use_sliding_window"}, false));
  const auto dense = model.read_dense_layers();
  if (dense > 0) model.read_mlp(of);
  model.put_experts(model.number({"num_experts", "num_local_experts"}, 128),
                    model.number({"num_experts_per_tok"}, 8), model.number({"moe_intermediate_size"}, 768),
                    fmt::format(", dense_layers: {}", dense));
}

void read_gemma(Model& model) {
  const Defaults of{256000, 3072, 24576, 28, 16, 16, 8192, 256, true};
  model.read_llama_like(of, "gelu_pytorch_tanh");
  model.read_kv_heads(of);
  model.read_attention_bias();
  model.read_mlp(of);
}

/// Differences between the two DeepSeek models.
struct Deepseek {
  Defaults of;
  int experts, top_k, width, shared, dense_layers;
  bool router_bias;
};
void read_deepseek(Model& model, const Deepseek& deepseek) {
  model.read_llama_like(deepseek.of);
  model.reject({"attention_bias"}, "gradway does not support biases in latent attention");
  const Spellings q_rank = {"q_lora_rank"};
  model.put("latent_attention",
            fmt::format(
                "{{ {}kv_rank: {}, plain_head_size: {}, rotary_head_size: {}, value_head_size: {} }}",
                model.settings.is_null(q_rank) ? "" : fmt::format("q_rank: {}, ", model.number(q_rank, 1536)),
                model.number({"kv_lora_rank"}, 512), model.number({"qk_nope_head_dim"}, 128),
                model.number({"qk_rope_head_dim"}, 64), model.number({"v_head_dim"}, 128)));
  model.require({"moe_layer_freq"}, model.number({"moe_layer_freq"}, 1) == 1,
                "gradway requires experts in all layers after the first dense ones");
  const auto dense = model.number({"first_k_dense_replace"}, deepseek.dense_layers, 0);
  if (dense > 0) model.read_mlp(deepseek.of);
  model.put_experts(model.number({"n_routed_experts"}, deepseek.experts),
                    model.number({"num_experts_per_tok"}, deepseek.top_k),
                    model.number({"moe_intermediate_size"}, deepseek.width),
                    fmt::format(", shared: {}, dense_layers: {}{}",
                                model.settings.is_null({"n_shared_experts"})
                                    ? 0
                                    : model.number({"n_shared_experts"}, deepseek.shared),
                                dense, deepseek.router_bias ? ", router_bias: true" : ""));
}
void read_deepseek_v2(Model& model) {
  model.require({"num_experts_per_tok"}, model.settings.has({"num_experts_per_tok"}),
                "the file has no 'num_experts_per_tok'");
  read_deepseek(model, {{32000, 4096, 11008, 32, 32, 0, 2048}, 64, 1, 1407, 2, 0, false});
}
void read_deepseek_v3(Model& model) {
  read_deepseek(model, {{129280, 7168, 18432, 61, 128, 128, 4096}, 256, 8, 2048, 1, 3, true});
}

/// GPT-2: learned positions, LayerNorms, biases.
void read_gpt2(Model& model) {
  const Defaults of{50257, 768, 0, 12, 12, 0, 1024, 0, true};
  model.read_blocks(of);
  model.reject({"add_cross_attention"}, "gradway does not support cross attention in GPT-2");
  const auto rows = model.read_sequence({"n_positions", "n_ctx"}, of.positions, true);
  model.put("position_rows", rows);
  model.put("mlp", model.number({"n_inner"}, 4 * model.hidden));
  model.read_activation({"activation_function"}, "gelu_new", false);
}

void read_opt(Model& model) {
  const Defaults of{50272, 768, 3072, 12, 12, 0, 2048, 0, true};
  model.read_blocks(of);
  const auto positions = model.read_sequence({"max_position_embeddings"}, of.positions, true);
  model.put("position_rows", positions + 2);  // The offset of OPTLearnedPositionalEmbedding.
  model.put("mlp", model.number({"ffn_dim"}, of.mlp));
  model.require({"do_layer_norm_before"}, model.flag({"do_layer_norm_before"}, true),
                "gradway only supports norms before attention and MLP, not after them");
  model.require({"word_embed_proj_dim"}, model.number({"word_embed_proj_dim"}, model.hidden) == model.hidden,
                "gradway requires embeddings of the width of the blocks");
  if (!model.flag({"enable_bias"}, true)) model.put("bias", false);
  model.read_activation({"activation_function"}, "relu", false);
}

void read_gptj(Model& model) {
  const Defaults of{50400, 4096, 0, 28, 16, 0, 2048};
  model.read_blocks(of);
  model.read_sequence({"n_positions"}, of.positions);
  model.put("mlp", model.number({"n_inner"}, 4 * model.hidden));
  model.put("positions", "rotary");
  model.put("rotary_size", model.number({"rotary_dim"}, 64));
  model.put("blocks", "parallel_one_norm");
  model.put("qkv_bias", false);
  model.put("attention_output_bias", false);
  model.put("output_bias", true);
  model.read_activation({"activation_function"}, "gelu_new", false);
}

void read_gpt_neox(Model& model) {
  const Defaults of{50432, 6144, 24576, 44, 64, 0, 2048};
  model.read_blocks(of);
  model.read_sequence({"max_position_embeddings"}, of.positions);
  model.read_mlp(of);
  model.put("positions", "rotary");
  model.put_rotary_share(
      model.settings.number({"rotary_pct", "rope_parameters.partial_rotary_factor"}, 0).value_or(0.25));
  if (model.flag({"use_parallel_residual"}, true)) model.put("blocks", "parallel");
  const bool bias = model.flag({"attention_bias"}, true);
  model.put("qkv_bias", bias);
  model.put("attention_output_bias", bias);
  model.read_activation({"hidden_act"}, "gelu", false);
}

void read_phi(Model& model) {
  const Defaults of{51200, 2048, 8192, 24, 32, 0, 2048};
  model.read_blocks(of);
  model.read_sequence({"max_position_embeddings"}, of.positions);
  model.read_kv_heads(of);
  model.read_mlp(of);
  model.reject({"qk_layernorm"}, "gradway only supports RMSNorms for queries and keys");
  model.put("positions", "rotary");
  model.put_rotary_share(
      model.settings.number({"partial_rotary_factor", "rope_parameters.partial_rotary_factor"}, 0)
          .value_or(0.5));
  model.put("blocks", "parallel_one_norm");
  model.put("output_bias", true);
  model.read_activation({"hidden_act"}, "gelu_new", false);
}

void read_falcon(Model& model) {
  const Defaults of{65024, 4544, 0, 32, 71, 0, 2048, 0, true};
  model.read_blocks(of);
  model.read_sequence({"max_position_embeddings"}, of.positions);
  model.put("mlp", model.number({"ffn_hidden_size"}, 4 * model.hidden));
  const bool is_new = model.flag({"new_decoder_architecture"}, false);
  const bool one_kv_head = model.flag({"multi_query"}, true);
  const auto kv_heads = model.number({"num_kv_heads", "n_head_kv"}, model.heads);
  model.put("kv_heads", is_new ? kv_heads : one_kv_head ? 1 : model.heads);
  const auto norms = model.number({"num_ln_in_parallel_attn"}, is_new ? 2 : 1);
  const bool is_parallel = model.flag({"parallel_attn"}, true) || is_new;
  if (is_parallel) model.put("blocks", is_new && norms == 2 ? "parallel" : "parallel_one_norm");
  model.put("positions", model.flag({"alibi"}, false) ? "alibi" : "rotary");
  const bool bias = model.flag({"bias"}, false);
  for (const auto* key : {"qkv_bias", "attention_output_bias", "mlp_bias"}) model.put(key, bias);
  model.read_activation({"activation"}, "gelu", false);
}

void read_bloom(Model& model) {
  const Defaults of{250880, 64, 0, 2, 8, 0, 2048, 0, true};
  model.read_blocks(of, {"n_layer", "num_hidden_layers"}, {"n_head", "num_attention_heads"},
                    {"hidden_size", "n_embed"});
  model.read_sequence({"seq_length"}, of.positions);
  model.put("mlp", model.number({"n_inner"}, 4 * model.hidden));
  model.put("positions", "alibi");
  model.put("embedding_norm", true);
}

void read_mpt(Model& model) {
  const Defaults of{50368, 2048, 0, 24, 16, 0, 2048, 0, true};
  model.read_blocks(of, {"n_layers"}, {"n_heads"}, {"d_model"});
  model.read_sequence({"max_seq_len"}, of.positions);
  model.put("mlp", model.settings.whole_number({"expansion_ratio"}, 1, 64).value_or(4) * model.hidden);
  model.require(
      {"attn_config.attn_type"},
      model.settings.text({"attn_config.attn_type"}).value_or("multihead_attention") == "multihead_attention",
      "the MPT of transformers has as many key heads as query heads");
  model.put("positions", "alibi");
  model.put("bias", false);
}

void read_t5(Model& model) {
  model.put("kind", "encoder_decoder");
  const auto layers = model.number({"num_layers"}, 6);
  model.put("layers", layers);
  model.require({"num_decoder_layers"}, model.number({"num_decoder_layers"}, layers) == layers,
                "gradway requires as many decoder layers as encoder layers in T5");
  model.put("heads", model.number({"num_heads"}, 8));
  model.put("head_size", model.number({"d_kv"}, 64));
  model.put("hidden", model.number({"d_model"}, 512));
  model.put("mlp", model.number({"d_ff"}, 2048));
  model.put("vocabulary", model.number({"vocab_size"}, 32128));
  model.put("position_buckets", model.number({"relative_attention_num_buckets"}, 32));
  model.require({"feed_forward_proj"}, model.settings.text({"feed_forward_proj"}).value_or("relu") == "relu",
                "gradway supports T5 v1.0, with ReLU, but not v1.1");
  model.require({"tie_word_embeddings"}, model.flag({"tie_word_embeddings"}, true),
                "gradway supports T5 v1.0, with a tied output, but not v1.1");
  model.read_sequence({"n_positions"}, 512);
}

void read_bert(Model& model) {
  model.put("kind", "encoder");
  model.put("layers", model.number({"num_hidden_layers"}, 12));
  model.put("heads", model.number({"num_attention_heads"}, 12));
  model.put("hidden", model.number({"hidden_size"}, 768));
  model.put("mlp", model.number({"intermediate_size"}, 3072));
  model.put("vocabulary", model.number({"vocab_size"}, 30522));
  model.put("positions", model.read_sequence({"max_position_embeddings"}, 512, true));
  model.put("types", model.number({"type_vocab_size"}, 2));
  model.require({"hidden_act"}, model.settings.text({"hidden_act"}).value_or("gelu").starts_with("gelu"),
                "gradway only supports GELU in encoders");
  model.put("outputs", 2);
  const auto* heads = model.settings.find({"architectures"});
  if (heads != nullptr && !heads->entries.empty() && heads->entries[0].text == "BertForQuestionAnswering")
    return model.put("pooler", false);
  model.settings.note_missing(
      "outputs: 2 per token, as for question answering, and a pooler; gradway does not support other heads");
}

void read_vit(Model& model) {
  model.put("kind", "vision_transformer");
  model.put("image_size", model.number({"image_size"}, 224));
  model.put("patch_size", model.number({"patch_size"}, 16));
  model.put("layers", model.number({"num_hidden_layers"}, 12));
  model.put("heads", model.number({"num_attention_heads"}, 12));
  model.put("hidden", model.number({"hidden_size"}, 768));
  model.put("mlp", model.number({"intermediate_size"}, 3072));
  const auto* labels = model.settings.find({"id2label"});
  // The default of transformers is 2.
  const auto named = labels == nullptr ? 2 : static_cast<int>(labels->entries.size());
  model.put("classes", model.number({"num_labels"}, named));
  model.require({"num_channels"}, model.number({"num_channels"}, 3) == 3,
                "gradway only supports images with 3 channels");
  model.require({"qkv_bias"}, model.flag({"qkv_bias"}, true),
                "gradway only supports vision transformers with biases");
  model.require({"hidden_act"}, model.settings.text({"hidden_act"}).value_or("gelu").starts_with("gelu"),
                "gradway only supports GELU in vision transformers");
}

/// Reader for a model_type.
struct Family {
  std::string_view model_type;
  void (*take)(Model&);
};
constexpr auto families = std::to_array<Family>({
    {"bert", read_bert},
    {"bloom", read_bloom},
    {"deepseek_v2", read_deepseek_v2},
    {"deepseek_v3", read_deepseek_v3},
    {"falcon", read_falcon},
    {"gemma", read_gemma},
    {"gpt2", read_gpt2},
    {"gpt_neox", read_gpt_neox},
    {"gptj", read_gptj},
    {"llama", read_llama},
    {"mistral", read_mistral},
    {"mixtral", read_mixtral},
    {"mpt", read_mpt},
    {"opt", read_opt},
    {"phi", read_phi},
    {"qwen2", read_qwen2},
    {"qwen2_moe", read_qwen2_moe},
    {"qwen3", read_qwen3},
    {"qwen3_moe", read_qwen3_moe},
    {"t5", read_t5},
    {"vit", read_vit},
});

void read_family(Model& model) {
  const auto type = model.settings.text({"model_type"});
  if (!type)
    return model.settings.problem(model.settings.whole(), "the file has no 'model_type'",
                                  "give the config.json in the folder of a model's weights");
  const auto found = std::ranges::find(families, *type, &Family::model_type);
  if (found != families.end()) return found->take(model);
  std::vector<std::string_view> names;
  for (const auto& family : families) names.push_back(family.model_type);
  model.settings.problem(
      model.settings.where({"model_type"}),
      fmt::format("unknown 'model_type: {}': gradway supports {}", *type, fmt::join(names, ", ")),
      "describe the model in a model file: 'kind: decoder' has many options");
}

}  // namespace

ModelDraft draft_of_hugging_face(const SettingsFile& file, std::optional<int> sequence) {
  Model model{file, sequence};
  read_family(model);
  model.settings.note_unused({ignored_hugging_face_keys, unused_hugging_face_keys, {}});
  model.settings.raise();
  model.draft.notes = model.settings.notes();
  return std::move(model.draft);
}

}  // namespace gradway
