// SPDX-License-Identifier: Apache-2.0
#include "sim/import/training/scenario_draft.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/import/training/hugging_face_decoders.hpp"
#include "sim/import/training/hugging_face_encoders.hpp"
#include "sim/import/training/hugging_face_model.hpp"
#include "sim/workload/operation.hpp"

namespace gradway {
namespace {

using Model = HuggingFaceModel;
using Spellings = Model::Spellings;

void read_llama(Model& model) {
  const Defaults defaults{32000, 4096, 11008, 32, 32, 0, 2048};
  model.read_llama_like(defaults);
  model.read_kv_heads(defaults);
  model.read_attention_bias();
  if (model.flag({"mlp_bias"}, false)) model.put("mlp_bias", true);
  model.read_mlp(defaults);
}

void read_mistral(Model& model) {
  const Defaults defaults{32000, 4096, 14336, 32, 32, 8, 131072};
  model.read_llama_like(defaults);
  model.read_kv_heads(defaults);
  model.read_mlp(defaults);
  model.read_window(4096, true);
}

void read_mixtral(Model& model) {
  const Defaults defaults{32000, 4096, 14336, 32, 32, 8, 131072};
  model.read_llama_like(defaults);
  model.read_kv_heads(defaults);
  model.read_window(0, true);
  model.put_experts(model.number({"num_local_experts", "num_experts"}, 8),
                    model.number({"num_experts_per_tok"}, 2),
                    model.number({"intermediate_size"}, defaults.mlp));
}

void read_qwen2(Model& model) {
  const Defaults defaults{151936, 4096, 22016, 32, 32, 32, 32768};
  model.read_llama_like(defaults);
  model.read_kv_heads(defaults);
  model.put("qkv_bias", true);
  model.read_mlp(defaults);
  model.read_window(4096, model.flag({"use_sliding_window"}, false));
}

void read_qwen2_moe(Model& model) {
  const Defaults defaults{151936, 2048, 5632, 24, 16, 16, 32768};
  model.read_llama_like(defaults);
  model.read_kv_heads(defaults);
  if (model.flag({"qkv_bias"}, true)) model.put("qkv_bias", true);
  model.read_window(4096, model.flag({"use_sliding_window"}, false));
  const auto width = model.number({"moe_intermediate_size"}, 1408);
  const Spellings shared_key = {"shared_expert_intermediate_size"};
  const auto shared = model.number(shared_key, 5632);
  model.require(
      shared_key, shared % width == 0,
      fmt::format("the width {} of the shared expert is not divisible by an expert's, {}", shared, width));
  const auto dense = model.read_dense_layers();
  if (dense > 0) model.read_mlp(defaults);
  model.put_experts(model.number({"num_experts"}, 60), model.number({"num_experts_per_tok"}, 4), width,
                    fmt::format(", shared: {}, shared_gate: true, dense_layers: {}", shared / width, dense));
}

void read_qwen3(Model& model) {
  const Defaults defaults{151936, 4096, 22016, 32, 32, 32, 32768, 128};
  model.read_llama_like(defaults);
  model.read_kv_heads(defaults);
  model.put("qk_norm", true);
  model.read_attention_bias();
  model.read_mlp(defaults);
  model.read_window(4096, model.flag({"use_sliding_window"}, false));
}

void read_qwen3_moe(Model& model) {
  const Defaults defaults{151936, 2048, 6144, 24, 32, 4, 32768};
  model.read_llama_like(defaults);
  model.read_kv_heads(defaults);
  model.put("qk_norm", true);
  model.read_attention_bias();
  model.read_window(4096, model.flag({"use_sliding_window"}, false));
  const auto dense = model.read_dense_layers();
  if (dense > 0) model.read_mlp(defaults);
  model.put_experts(model.number({"num_experts", "num_local_experts"}, 128),
                    model.number({"num_experts_per_tok"}, 8), model.number({"moe_intermediate_size"}, 768),
                    fmt::format(", dense_layers: {}", dense));
}

void read_gemma(Model& model) {
  const Defaults defaults{256000, 3072, 24576, 28, 16, 16, 8192, 256, true};
  model.read_llama_like(defaults, "gelu_pytorch_tanh");
  model.read_kv_heads(defaults);
  model.read_attention_bias();
  model.read_mlp(defaults);
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

/// DeepSeek-V3's program with other sizes.
void read_kimi_k2(Model& model) {
  read_deepseek(model, {{163840, 7168, 18432, 61, 64, 64, 131072}, 384, 8, 2048, 1, 1, true});
}

/// GPT-2: learned positions, LayerNorms, biases.
void read_gpt2(Model& model) {
  const Defaults defaults{50257, 768, 0, 12, 12, 0, 1024, 0, true};
  model.read_blocks(defaults);
  model.reject({"add_cross_attention"}, "gradway does not support cross attention in GPT-2");
  const auto rows = model.read_sequence({"n_positions", "n_ctx"}, defaults.positions, true);
  model.put("position_rows", rows);
  model.put("mlp", model.number({"n_inner"}, 4 * model.hidden));
  if (model.flag({"multi_query"}, false)) model.put("kv_heads", 1);
  model.read_activation({"activation_function"}, "gelu_new", false);
  model.read_dropout({"resid_pdrop"}, 0.1, 0.1);
}

void read_opt(Model& model) {
  const Defaults defaults{50272, 768, 3072, 12, 12, 0, 2048, 0, true};
  model.read_blocks(defaults);
  const auto positions = model.read_sequence({"max_position_embeddings"}, defaults.positions, true);
  model.put("position_rows", positions + 2);  // The offset of OPTLearnedPositionalEmbedding.
  model.put("mlp", model.number({"ffn_dim"}, defaults.mlp));
  model.require({"do_layer_norm_before"}, model.flag({"do_layer_norm_before"}, true),
                "gradway only supports norms before attention and MLP, not after them");
  model.require({"word_embed_proj_dim"}, model.number({"word_embed_proj_dim"}, model.hidden) == model.hidden,
                "gradway requires embeddings of the width of the blocks");
  if (!model.flag({"enable_bias"}, true)) model.put("bias", false);
  model.put("packed_projections", false);
  model.read_activation({"activation_function"}, "relu", false);
  model.read_dropout({"dropout"}, 0.1, 0);
}

void read_gptj(Model& model) {
  const Defaults defaults{50400, 4096, 0, 28, 16, 0, 2048};
  model.read_blocks(defaults);
  model.read_sequence({"n_positions"}, defaults.positions);
  model.put("mlp", model.number({"n_inner"}, 4 * model.hidden));
  model.put("positions", "rotary");
  model.put("rotary_size", model.number({"rotary_dim"}, 64));
  model.put("blocks", "parallel_one_norm");
  model.put("qkv_bias", false);
  model.put("attention_output_bias", false);
  model.put("output_bias", true);
  model.read_activation({"activation_function"}, "gelu_new", false);
  model.read_dropout({"resid_pdrop"}, 0, 0);
}

void read_gpt_neox(Model& model) {
  const Defaults defaults{50432, 6144, 24576, 44, 64, 0, 2048};
  model.read_blocks(defaults);
  model.read_sequence({"max_position_embeddings"}, defaults.positions);
  model.read_mlp(defaults);
  model.put("positions", "rotary");
  model.put_rotary_share(
      model.settings.number({"rotary_pct", "rope_parameters.partial_rotary_factor"}, 0).value_or(0.25));
  if (model.flag({"use_parallel_residual"}, true)) model.put("blocks", "parallel");
  const bool bias = model.flag({"attention_bias"}, true);
  model.put("qkv_bias", bias);
  model.put("attention_output_bias", bias);
  model.put("packed_projections", "split");
  model.read_activation({"hidden_act"}, "gelu", false);
  model.read_dropout({"hidden_dropout"}, 0, 0);
}

void read_phi(Model& model) {
  const Defaults defaults{51200, 2048, 8192, 24, 32, 0, 2048};
  model.read_blocks(defaults);
  model.read_sequence({"max_position_embeddings"}, defaults.positions);
  model.read_kv_heads(defaults);
  model.read_mlp(defaults);
  model.reject({"qk_layernorm"}, "gradway only supports RMSNorms for queries and keys");
  model.put("positions", "rotary");
  model.put_rotary_share(
      model.settings.number({"partial_rotary_factor", "rope_parameters.partial_rotary_factor"}, 0)
          .value_or(0.5));
  model.put("blocks", "parallel_one_norm");
  model.put("output_bias", true);
  model.read_activation({"hidden_act"}, "gelu_new", false);
  model.read_dropout({"resid_pdrop"}, 0, 0);
}

void read_falcon(Model& model) {
  const Defaults defaults{65024, 4544, 0, 32, 71, 0, 2048, 0, true};
  model.read_blocks(defaults);
  model.read_sequence({"max_position_embeddings"}, defaults.positions);
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
  model.put("packed_projections", "split");
  model.read_activation({"activation"}, "gelu", false);
  model.read_dropout({"hidden_dropout"}, 0, 0);
}

void read_bloom(Model& model) {
  const Defaults defaults{250880, 64, 0, 2, 8, 0, 2048, 0, true};
  model.read_blocks(defaults, {"n_layer", "num_hidden_layers"}, {"n_head", "num_attention_heads"},
                    {"hidden_size", "n_embed"});
  model.read_sequence({"seq_length"}, defaults.positions);
  model.put("mlp", model.number({"n_inner"}, 4 * model.hidden));
  model.put("positions", "alibi");
  model.put("embedding_norm", true);
  model.put("packed_projections", "split");
  model.read_dropout({"hidden_dropout"}, 0, 0);
}

void read_mpt(Model& model) {
  const Defaults defaults{50368, 2048, 0, 24, 16, 0, 2048, 0, true};
  model.read_blocks(defaults, {"n_layers"}, {"n_heads"}, {"d_model"});
  model.read_sequence({"max_seq_len"}, defaults.positions);
  model.put("mlp", model.settings.whole_number({"expansion_ratio"}, 1, 64).value_or(4) * model.hidden);
  model.require(
      {"attn_config.attn_type"},
      model.settings.text({"attn_config.attn_type"}).value_or("multihead_attention") == "multihead_attention",
      "the MPT of transformers has as many key heads as query heads");
  model.put("positions", "alibi");
  model.put("bias", false);
  model.put("packed_projections", "split");
  model.read_dropout({"resid_pdrop", "emb_pdrop"}, 0, 0);
}

/// Reader for a model_type.
struct Reader {
  std::string_view model_type;
  void (*take)(Model&);
};
constexpr auto readers = std::to_array<Reader>({
    {"bert", read_bert},
    {"bloom", read_bloom},
    {"deepseek_v2", read_deepseek_v2},
    {"deepseek_v3", read_deepseek_v3},
    {"falcon", read_falcon},
    {"gemma", read_gemma},
    {"gpt2", read_gpt2},
    {"gpt_bigcode", read_gpt2},
    {"gpt_neox", read_gpt_neox},
    {"gptj", read_gptj},
    {"kimi_k2", read_kimi_k2},
    {"llama", read_llama},
    {"mistral", read_mistral},
    {"mixtral", read_mixtral},
    {"modernbert", read_modernbert},
    {"mpt", read_mpt},
    {"opt", read_opt},
    {"phi", read_phi},
    {"qwen2", read_qwen2},
    {"qwen2_moe", read_qwen2_moe},
    {"qwen3", read_qwen3},
    {"qwen3_moe", read_qwen3_moe},
    {"t5", read_t5},
    {"vit", read_vit},
    {"whisper", read_whisper},
});

/// Model types that are another one, or the text part of a model with images. @source the modular_NAME.py and
/// the sub_configs of transformers
struct Alias {
  std::string_view model_type;
  std::string_view of;
};
constexpr auto aliases = std::to_array<Alias>({
    {"camembert", "bert"},
    {"deit", "vit"},
    {"gemma3", "gemma3_text"},
    {"llama4", "llama4_text"},
    {"qwen2_5_vl", "qwen2"},
    {"qwen2_5_vl_text", "qwen2"},
    {"qwen2_vl", "qwen2"},
    {"qwen2_vl_text", "qwen2"},
    {"qwen3_vl_moe_text", "qwen3_moe"},
    {"qwen3_vl_text", "qwen3"},
    {"roberta", "bert"},
    {"xlm-roberta", "bert"},
});

constexpr auto where_to_describe =
    "describe the model in a model file, or capture your program: docs/my-model.md shows both";

bool read_known(Model& model, std::string_view model_type) {
  const auto alias = std::ranges::find(aliases, model_type, &Alias::model_type);
  if (alias != aliases.end()) model_type = alias->of;
  const auto reader = std::ranges::find(readers, model_type, &Reader::model_type);
  if (reader == readers.end()) return read_known_decoder(model, model_type);
  reader->take(model);
  return true;
}

void refuse_unknown(Model& model, const std::string& type, const std::vector<std::string_view>& missing) {
  auto names = known_decoders();
  for (const auto& reader : readers) names.push_back(reader.model_type);
  for (const auto& alias : aliases) names.push_back(alias.model_type);
  std::ranges::sort(names);
  model.settings.problem(
      "model_type",
      fmt::format("unknown 'model_type: {}', and the file has no {}, by which a decoder would "
                  "be read. Known: {}",
                  type, fmt::join(missing, ", "), fmt::join(names, ", ")),
      where_to_describe);
}

/// Marks keys as read that change nothing of a decoder, because of their value or of another key.
void note_idle_keys(Model& model) {
  const Spellings every_layer = {"moe_layer_freq"};
  model.require(every_layer, model.number(every_layer, 1) == 1, "gradway requires experts in all layers");
  if (!model.flag({"use_sliding_window"}, true)) model.settings.find({"sliding_window"});
  if (model.settings.has({"layer_types"})) model.settings.find({"sliding_window_pattern"});
}

void read_family(Model& model) {
  const auto type = model.settings.text({"model_type"});
  if (const auto name = model.settings.text({"_class_name"}); name && !type)
    return model.settings.problem(
        "_class_name", fmt::format("gradway does not read the models of diffusers, such as this {}", *name),
        "capture your training program: docs/my-program.md");
  if (!type)
    return model.settings.problem(model.settings.whole(), "the file has no 'model_type'",
                                  "give the config.json in the folder of a model's weights");
  if (read_known(model, *type)) return;
  const auto missing = missing_decoder_keys(model);
  if (!missing.empty()) return refuse_unknown(model, *type, missing);
  model.require({"is_encoder_decoder"}, !model.flag({"is_encoder_decoder"}, false),
                fmt::format("gradway does not know the encoder and decoder of model_type {}", *type));
  if (model.settings.has({"kv_lora_rank"})) {
    read_deepseek_v3(model);
  } else {
    read_decoder_by_keys(model);
  }
  model.settings.note(
      {"model_type"},
      "unknown to gradway, so the model is read by its keys as a decoder like Llama; compare its "
      "number of parameters ('gradway show model') with the published one");
  note_idle_keys(model);
  model.settings.refuse_unknown(where_to_describe);
}

/// The settings of the text part of a model with images, with those keys of the whole that it lacks.
SettingsFile text_part(const SettingsFile& file) {
  auto merged = file;
  for (const auto* key : {"text_config", "llm_config", "language_config"}) {
    const auto* text = file.root.find(key);
    if (text == nullptr || text->kind != FileSetting::Kind::table || text->find("model_type") == nullptr)
      continue;
    merged.root = *text;
    for (const auto& entry : file.root.entries) {
      const bool is_value = entry.kind != FileSetting::Kind::table && entry.key != "architectures";
      if (is_value && text->find(entry.key) == nullptr) merged.root.entries.push_back(entry);
    }
  }
  return merged;
}

}  // namespace

ModelDraft draft_of_hugging_face(const SettingsFile& file, std::optional<int> sequence) {
  const auto text = text_part(file);
  Model model{text, sequence};
  read_family(model);
  model.put("implementation", name_of(Implementation::hugging_face));
  const bool sees = file.root.find("vision_config") != nullptr || file.root.find("audio_config") != nullptr;
  if (sees)
    model.settings.note_missing(
        "the parts for images and sound are left out: the model is the text part, which reads their tokens");
  model.settings.note_unused();
  model.settings.raise();
  model.draft.notes = model.settings.notes();
  return std::move(model.draft);
}

}  // namespace gradway
