// SPDX-License-Identifier: Apache-2.0
// Decoders that are read by their keys, and the families that differ from Llama by what the keys do not say.
#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "readers/training/hugging_face_model.hpp"
#include "sim/base/contract.hpp"
#include "sim/base/text.hpp"

namespace gradway {
namespace {

using Model = HuggingFaceModel;

/// A row of dialects/hugging_face.txt: what the program of a family does that its keys do not say, and the
/// defaults of its keys.
class Family {
 public:
  explicit Family(TextRow row) : row_{std::move(row)} {
    for (const auto& [name, value] : row_.values)
      expects(std::ranges::count(words_in(names), name) == 1, "the trait of a family is known");
  }

  std::string_view model_type() const { return row_.word(0); }
  std::string_view value(std::string_view name) const { return row_.value(name); }
  int number(std::string_view name, int otherwise = 0) const { return row_.number(name, otherwise); }
  bool has(std::string_view name, bool otherwise = false) const {
    return value(name).empty() ? otherwise : value(name) == "true";
  }
  double share(std::string_view name, double otherwise) const {
    return value(name).empty() ? otherwise : std::stod(std::string{value(name)});
  }
  void set(std::string_view name, std::string_view value) {
    row_.values.insert(row_.values.begin(), {name, value});
  }

  Defaults sizes() const {
    return {number("vocabulary", 32000), number("hidden", 4096), number("mlp"),
            number("layers", 32),        number("heads", 32),    number("kv_heads"),
            number("positions", 4096),   number("head_size"),    has("tied")};
  }

 private:
  static constexpr std::string_view names =
      "vocabulary hidden mlp layers heads kv_heads positions head_size tied kv activation gated layer_norm "
      "norm_bias norm_placement embedding_norm blocks blocks_key qk_norm qk_norm_key qk_norm_default "
      "attention_bias output_follows mlp_bias output_bias packed latent value_size sinks gate soft_cap "
      "position "
      "position_offset rotary_share rotary_size window full_every no_rotary_every slides dropout "
      "attention_dropout experts top_k expert_mlp shared shared_mlp shared_gate expert_bias router_bias "
      "dense_layers every masked_lm";
  TextRow row_;
};

std::optional<Family> family_of(std::string_view model_type) {
  for (const auto& row : dialects::hugging_face().others)
    if (row.kind == "family" && row.word(0) == model_type) return Family{row};
  return std::nullopt;
}

void read_norms(Model& model, const Family& family) {
  model.put("bias", model.flag("norm_bias", family.has("norm_bias")));
  if (family.has("masked_lm")) model.put("masked_lm", true);
  model.put("norm", family.has("layer_norm") ? "layer_norm" : "rms_norm");
  const auto blocks_key = family.value("blocks_key");
  if (!family.value("blocks").empty() && (blocks_key.empty() || model.flag(blocks_key, true)))
    model.put("blocks", family.value("blocks"));
  if (!family.value("norm_placement").empty()) model.put("norm_placement", family.value("norm_placement"));
}

void read_latent_attention(Model& model, int value_size) {
  model.reject("attention_bias", "gradway does not support biases in latent attention");
  constexpr std::string_view q_rank = "q_lora_rank";
  model.put("latent_attention",
            fmt::format(
                "{{ {}kv_rank: {}, plain_head_size: {}, rotary_head_size: {}, value_head_size: {} }}",
                model.settings.is_null(q_rank) ? "" : fmt::format("q_rank: {}, ", model.number(q_rank, 1536)),
                model.number("kv_lora_rank", 512), model.number("qk_nope_head_dim", 128),
                model.number("qk_rope_head_dim", 64), model.number("v_head_dim", value_size)));
}

void read_heads(Model& model, const Family& family) {
  if (family.has("latent")) return read_latent_attention(model, family.number("value_size", 128));
  if (family.has("kv", true)) model.read_kv_heads(family.sizes());
  const auto key = family.value("qk_norm_key");
  const auto norm = family.value("qk_norm");
  if (!norm.empty() && (key.empty() || model.flag(key, family.has("qk_norm_default"))))
    model.put("qk_norm", norm);
  if (!family.value("packed").empty()) model.put("packed_projections", family.value("packed"));
  if (family.has("sinks")) model.put("attention_sinks", true);
  if (model.flag("attn_output_gate", family.has("gate"))) model.put("attention_gate", true);
  const bool has_bias = model.flag("bias", false);
  const bool bias = model.flag("attention_bias use_bias", family.has("attention_bias") || has_bias);
  const auto put_bias = [&](const char* name, std::string_view keys, bool otherwise) {
    const bool has_this = model.flag(keys, otherwise);
    if (has_this != family.has("norm_bias")) model.put(name, has_this);
  };
  put_bias("qkv_bias", "qkv_bias use_qkv_bias", bias);
  put_bias("attention_output_bias", "attention_out_bias attention_output_bias",
           bias && family.has("output_follows", true));
  const bool has_plain_mlp = !family.has("gated", true) && family.has("norm_bias");
  put_bias("mlp_bias", "mlp_bias use_bias", has_bias || family.has("mlp_bias", has_plain_mlp));
  if (model.flag("lm_head_bias decoder_bias", family.has("output_bias"))) model.put("output_bias", true);
}

/// Reads how much of each head is rotated.
void read_rotary_share(Model& model, const Family& family) {
  if (const auto size = family.number("rotary_size"); size > 0)
    return model.put("rotary_size", model.number("rotary_dim", size));
  model.put_rotary_share(
      model.settings.number("partial_rotary_factor rope_parameters.partial_rotary_factor", 0)
          .value_or(model.settings.number("rotary_pct", 0).value_or(family.share("rotary_share", 1))));
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
  constexpr std::string_view types_key = "layer_types";
  auto every = model.number("sliding_window_pattern full_attention_interval", family.number("full_every"), 0);
  every = model.number("global_attn_every_n_layers", every, 0);
  bool has_linear = false;
  bool has_others = every > 0 || family.number("window") > 0;
  if (const auto* types = model.settings.find(types_key)) {
    const auto is_full = [](const FileSetting& entry) { return entry.text == "full_attention"; };
    every = period_of(*types, is_full);
    model.require(types_key, every >= 0, "gradway supports full attention in every n-th layer only");
    has_others = !std::ranges::all_of(types->entries, is_full);
    for (const auto& entry : types->entries) has_linear = has_linear || entry.text == "linear_attention";
  }
  if (model.settings.has("linear_num_value_heads") || has_linear || family.model_type() == "qwen3_next") {
    model.put(
        "linear_attention",
        fmt::format("{{ key_heads: {}, value_heads: {}, key_head_size: {}, value_head_size: {}, "
                    "convolution: {} }}",
                    model.number("linear_num_key_heads", 16), model.number("linear_num_value_heads", 32),
                    model.number("linear_key_head_dim", 128), model.number("linear_value_head_dim", 128),
                    model.number("linear_conv_kernel_dim", 4)));
    return model.put("full_attention_every", std::max(every, 1));
  }
  constexpr std::string_view key = "sliding_window attention_chunk_size local_attention";
  const bool is_off =
      model.settings.is_null(key) || !model.flag("use_sliding_window", family.has("slides", true));
  const auto window = model.number(key, family.number("window"));
  model.number("max_window_layers", 0, 0);
  const bool reaches = !is_off && window > 0 && window < model.sequence;
  if (!reaches || (!has_others && model.settings.has(types_key))) return;
  model.put("window", window);
  if (every > 1) model.put("full_attention_every", every);
}

void read_rotary_layers(Model& model, const Family& family) {
  constexpr std::string_view list_key = "no_rope_layers";
  auto every = model.number("no_rope_layer_interval", family.number("no_rotary_every"), 0);
  const auto* list = model.settings.find(list_key);
  if (list != nullptr && !list->entries.empty()) {
    every = period_of(*list, [](const FileSetting& entry) { return entry.text == "0"; });
    model.require(list_key, every >= 0, "gradway supports rotary positions in all but every n-th layer only");
  }
  if (every > 0) model.put("no_rotary_every", every);
}

/// Shared experts as a number of experts of equal width.
int read_shared(Model& model, const Family& family, int width) {
  constexpr std::string_view count_key = "n_shared_experts num_shared_experts num_shared_expert";
  constexpr std::string_view width_key = "shared_expert_intermediate_size shared_intermediate_size";
  if (model.settings.is_null(count_key)) return 0;
  if (!model.settings.has(width_key) && family.number("shared_mlp") == 0)
    return model.number(count_key, family.number("shared"), 0);
  const auto shared = model.number(width_key, family.number("shared_mlp"), 0);
  model.require(
      width_key, shared % width == 0,
      fmt::format("the width {} of the shared expert is not divisible by an expert's, {}", shared, width));
  return shared / width;
}

void read_mlps(Model& model, const Family& family) {
  model.require("use_cla", !model.flag("use_cla", false), "gradway computes keys and values in every block");
  constexpr std::string_view every_layer = "moe_layer_freq";
  model.require(every_layer, model.number(every_layer, 1) == 1,
                "gradway requires experts in all layers after the first dense ones");
  constexpr std::string_view count_key = "num_local_experts num_experts";
  constexpr std::string_view routed_key = "n_routed_experts moe_num_experts ffn_config.moe_num_experts";
  const auto experts = model.settings.has(routed_key) ? model.number(routed_key, 0, 0)
                                                      : model.number(count_key, family.number("experts"), 0);
  const auto standard =
      family.number("mlp") > 0 ? family.number("mlp") : model.hidden * model.number("expansion_ratio", 4);
  const auto mlp =
      model.number("intermediate_size n_inner ffn_dim ffn_hidden_size ffn_config.ffn_hidden_size", standard);
  const auto dense_mlp =
      model.number("intermediate_size_mlp", family.model_type() == "llama4_text" ? standard : mlp);
  if (experts <= 1) return model.put("mlp", dense_mlp);
  const auto expert_mlp = family.number("expert_mlp") > 0 ? family.number("expert_mlp") : mlp;
  const auto width = family.model_type() == "llama4_text" ? model.number("intermediate_size", expert_mlp)
                                                          : model.number("moe_intermediate_size", expert_mlp);
  constexpr std::string_view top_k_key =
      "num_experts_per_tok experts_per_token moe_topk ffn_config.moe_top_k";
  model.require(top_k_key, family.number("top_k", 2) > 0 || model.settings.has(top_k_key),
                "the file has no 'num_experts_per_tok'");
  const auto top_k = model.number(top_k_key, family.number("top_k", 2));
  auto dense = model.number("first_k_dense_replace", family.number("dense_layers"), 0);
  if (model.settings.has("mlp_only_layers")) dense = std::max(dense, model.read_dense_layers());
  const auto every = model.number("interleave_moe_layer_step decoder_sparse_step", family.number("every", 1));
  constexpr std::string_view list_key = "moe_layers";
  if (const auto* list = model.settings.find(list_key)) {
    for (std::size_t i = 0; i < list->entries.size(); ++i)
      model.require(list_key, list->entries[i].text == std::to_string((i + 1) * every - 1),
                    "gradway supports experts in every n-th layer only");
  }
  if (dense > 0 || every > 1) model.put("mlp", dense_mlp);
  const auto shared = read_shared(model, family, width);
  std::string further_keys;
  const auto add = [&](const char* key, auto value) { further_keys += fmt::format(", {}: {}", key, value); };
  if (shared > 0) add("shared", shared);
  if (shared > 0 && family.has("shared_gate")) add("shared_gate", true);
  if (dense > 0 || !family.value("dense_layers").empty()) add("dense_layers", dense);
  if (every > 1) add("every", every);
  if (family.has("expert_bias")) add("bias", true);
  if (family.has("router_bias")) add("router_bias", true);
  model.put_experts(experts, top_k, width, further_keys);
}

// What no trait says of a family.

void read_gpt2(Model& model, Family&) {
  model.reject("add_cross_attention", "gradway does not support cross attention in GPT-2");
  if (model.flag("multi_query", false)) model.put("kv_heads", 1);
}

void read_opt(Model& model, Family& family) {
  model.require("do_layer_norm_before", model.flag("do_layer_norm_before", true),
                "gradway only supports norms before attention and MLP, not after them");
  model.require("word_embed_proj_dim", model.number("word_embed_proj_dim", model.hidden) == model.hidden,
                "gradway requires embeddings of the width of the blocks");
  if (model.flag("enable_bias", true)) return;
  family.set("attention_bias", "false");
  family.set("mlp_bias", "false");
}

void read_phi(Model& model, Family&) {
  model.reject("qk_layernorm", "gradway only supports RMSNorms for queries and keys");
}

void read_falcon(Model& model, Family& family) {
  const bool is_new = model.flag("new_decoder_architecture", false);
  const bool one_kv_head = model.flag("multi_query", true);
  const auto kv_heads = model.number("num_kv_heads n_head_kv", model.heads);
  model.put("kv_heads", is_new ? kv_heads : one_kv_head ? 1 : model.heads);
  const auto norms = model.number("num_ln_in_parallel_attn", is_new ? 2 : 1);
  const bool is_parallel = model.flag("parallel_attn", true) || is_new;
  if (is_parallel) family.set("blocks", is_new && norms == 2 ? "parallel" : "parallel_one_norm");
  if (model.flag("alibi", false)) family.set("position", "alibi");
}

void read_mpt(Model& model, Family&) {
  constexpr std::string_view key = "attn_config.attn_type";
  model.require(key, model.settings.text(key).value_or("multihead_attention") == "multihead_attention",
                "the MPT of transformers has as many key heads as query heads");
}

struct Rule {
  std::string_view model_type;
  void (*read)(Model&, Family&);
};
constexpr auto rules = std::to_array<Rule>(
    {{"gpt2", read_gpt2}, {"opt", read_opt}, {"phi", read_phi}, {"falcon", read_falcon}, {"mpt", read_mpt}});

void read(Model& model, Family family) {
  const auto sizes = family.sizes();
  model.read_blocks(sizes);
  const bool is_learned = family.value("position") == "learned";
  const auto rows = model.read_sequence("max_position_embeddings n_positions n_ctx seq_length max_seq_len",
                                        sizes.positions, is_learned);
  for (const auto& special : rules)
    if (special.model_type == family.model_type()) special.read(model, family);
  read_norms(model, family);
  const auto position = family.value("position");
  if (!is_learned) model.put("positions", position.empty() ? "rotary" : position);
  if (is_learned) model.put("position_rows", rows + family.number("position_offset"));
  if (family.has("embedding_norm")) model.put("embedding_norm", true);
  const auto activation = family.value("activation");
  if (activation != "none")
    model.read_activation("hidden_act hidden_activation activation_function activation",
                          activation.empty() ? "silu" : std::string{activation}, family.has("gated", true));
  read_heads(model, family);
  if (position.empty() && !family.has("latent")) read_rotary_share(model, family);
  read_layer_kinds(model, family);
  if (position.empty()) read_rotary_layers(model, family);
  constexpr std::string_view cap_key = "final_logit_softcapping";
  if (!model.settings.is_null(cap_key) && (family.has("soft_cap") || model.settings.has(cap_key))) {
    model.settings.find(cap_key);
    model.put("logit_soft_cap", true);
  }
  model.read_dropout(family.share("dropout", 0), family.share("attention_dropout", 0));
  read_mlps(model, family);
}

/// A family for a model_type that gradway does not know, by the keys of the file.
Family family_of_keys(Model& model) {
  if (model.settings.has("kv_lora_rank")) return *family_of("deepseek_v3");
  const bool layer_norm =
      !model.settings.has("rms_norm_eps norm_eps") && model.settings.has("layer_norm_eps layer_norm_epsilon");
  const auto activation = model.settings.text("hidden_act hidden_activation").value_or("silu");
  const bool gated =
      (!layer_norm && !activation.starts_with("relu")) || activation == "silu" || activation == "swish";
  Family family{{.kind = "family", .words = {""}, .values = {{"mlp", "11008"}}}};
  const auto set = [&](const char* name, bool value) { family.set(name, value ? "true" : "false"); };
  set("layer_norm", layer_norm);
  set("gated", gated);
  set("norm_bias", layer_norm && !gated);
  set("attention_bias", layer_norm && !gated);
  set("gate", model.flag("attn_output_gate", false));
  for (const auto* key : {"use_qk_norm", "qk_norm", "qk_layernorm"}) {
    if (!model.settings.has(key)) continue;
    family.set("qk_norm", "true");
    family.set("qk_norm_key", key);
  }
  return family;
}

}  // namespace

bool read_known_decoder(HuggingFaceModel& model, std::string_view model_type) {
  auto family = family_of(model_type);
  if (family) read(model, std::move(*family));
  return family.has_value();
}

std::vector<std::string_view> missing_decoder_keys(HuggingFaceModel& model) {
  std::vector<std::string_view> missing;
  for (const auto key : {"hidden_size", "num_hidden_layers", "num_attention_heads", "vocab_size"})
    if (!model.settings.has(key)) missing.push_back(key);
  if (!model.settings.has("intermediate_size moe_intermediate_size")) missing.push_back("intermediate_size");
  return missing;
}

void read_decoder_by_keys(HuggingFaceModel& model) {
  read(model, family_of_keys(model));
}

}  // namespace gradway
