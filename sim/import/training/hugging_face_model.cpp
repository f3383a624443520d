// SPDX-License-Identifier: Apache-2.0
#include "sim/import/training/hugging_face_model.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace gradway {
namespace {

constexpr int max_number = 1 << 24;
/// Tokens per sample of models with more positions, which are trained at their full context for the last few
/// per cent of their tokens only. @source Llama Team, "The Llama 3 Herd of Models", arXiv 2407.21783,
/// sections 3.4.1 and 3.4.2: 8,192 tokens, and 800 billion of 15.6 trillion at up to 131,072
constexpr int most_default_tokens = 8192;
constexpr auto experts_everywhere = "gradway requires experts in all layers after the first dense ones";

}  // namespace

int HuggingFaceModel::number(Spellings keys, int otherwise, int least) {
  return settings.whole_number(keys, least, max_number).value_or(otherwise);
}

void HuggingFaceModel::put(std::string key, bool value) {
  draft.keys.emplace_back(std::move(key), value ? "true" : "false");
}

void HuggingFaceModel::require(Spellings keys, bool is_supported, const std::string& message) {
  if (!is_supported)
    settings.problem(settings.where(keys), message,
                     "describe the model in a model file: docs/my-model.md shows how");
}

int HuggingFaceModel::read_sequence(Spellings keys, int otherwise, bool has_rows) {
  const auto positions = number(keys, otherwise);
  if (asked_ && has_rows && *asked_ > positions)
    settings.problem(settings.where(keys),
                     fmt::format("--sequence {}, but the model has {} positions", *asked_, positions),
                     fmt::format("give at most {}", positions));
  sequence = asked_.value_or(std::min(positions, most_default_tokens));
  if (!asked_)
    settings.note_missing(fmt::format("sequence: {} tokens per sample{}; --sequence changes it", sequence,
                                      sequence < positions
                                          ? fmt::format(" (the model has {} positions)", positions)
                                          : ", the number of positions of the model"));
  put("sequence", sequence);
  return positions;
}

void HuggingFaceModel::read_activation(Spellings keys, const std::string& otherwise, bool is_gated) {
  const auto name = settings.text(keys).value_or(otherwise);
  // gelu_pytorch_tanh and gelu_fast are kernels, as gelu is.
  const bool is_gelu = name.starts_with("gelu");
  if (!is_gated && name == "gelu_new") return put("activation", "gelu_new");
  if (is_gated && (name == "silu" || name == "swish")) return put("activation", "swiglu");
  if (is_gelu) return put("activation", is_gated ? "geglu" : "gelu");
  if (!is_gated && name == "relu") return put("activation", "relu");
  settings.problem(settings.where(keys), fmt::format("unsupported activation '{}'", name),
                   is_gated ? "expected silu, gelu or gelu_pytorch_tanh" : "expected gelu, gelu_new or relu");
}

void HuggingFaceModel::read_blocks(const Defaults& defaults, Spellings layers, Spellings heads_key,
                                   Spellings hidden_key) {
  put("kind", "decoder");
  put("layers", number(layers, defaults.layers));
  heads = number(heads_key, defaults.heads);
  hidden = number(hidden_key, defaults.hidden);
  put("heads", heads);
  put("hidden", hidden);
  put("vocabulary", number({"vocab_size"}, defaults.vocabulary));
  put("tied_output", flag({"tie_word_embeddings"}, defaults.tied));
}

void HuggingFaceModel::read_blocks(const Defaults& defaults) {
  read_blocks(defaults, {"num_hidden_layers", "n_layer"}, {"num_attention_heads", "n_head"},
              {"hidden_size", "n_embd"});
}

void HuggingFaceModel::read_llama_like(const Defaults& defaults, const std::string& activation) {
  read_blocks(defaults);
  read_sequence({"max_position_embeddings"}, defaults.positions);
  put("bias", false);
  put("norm", "rms_norm");
  put("positions", "rotary");
  read_activation({"hidden_act", "hidden_activation"}, activation, true);
}

void HuggingFaceModel::read_kv_heads(const Defaults& defaults) {
  put("kv_heads", number({"num_key_value_heads"}, defaults.kv_heads > 0 ? defaults.kv_heads : heads));
  const auto head = number({"head_dim"}, defaults.head_size);
  head_size = head;
  if (head > 0) put("head_size", head);
}

void HuggingFaceModel::read_attention_bias() {
  if (!flag({"attention_bias"}, false)) return;
  put("qkv_bias", true);
  put("attention_output_bias", true);
}

void HuggingFaceModel::read_window(int otherwise, bool is_used) {
  const Spellings key = {"sliding_window"};
  const Spellings types_key = {"layer_types"};
  const auto window = settings.is_null(key) ? 0 : number(key, otherwise);
  bool slides = true;
  if (const auto* types = settings.find(types_key)) {
    const auto is_full = [](const FileSetting& entry) { return entry.text == "full_attention"; };
    slides = !std::ranges::any_of(types->entries, is_full);
    require(types_key, slides || std::ranges::all_of(types->entries, is_full),
            "gradway supports windows in all layers of this family, or in none");
  }
  if (is_used && slides && window > 0 && window < sequence) put("window", window);
}

void HuggingFaceModel::read_dropout(Spellings keys, double otherwise, double of_attention) {
  const auto at_least_0 = [&](Spellings dropout_keys, double missing) {
    return settings.number(dropout_keys, 0).value_or(missing);
  };
  double most = 0;
  for (const auto key : keys.all()) most = std::max(most, at_least_0({key}, otherwise));
  for (const auto* key : {"embd_pdrop", "embedding_dropout", "activation_dropout"})
    most = std::max(most, at_least_0({key}, 0));
  auto attention = at_least_0({"attention_dropout", "attn_pdrop"}, of_attention);
  attention = at_least_0({"attention_probs_dropout_prob", "attn_config.attn_pdrop"}, attention);
  if (most > 0) put("dropout", true);
  if ((attention > 0) != (most > 0)) put("attention_dropout", attention > 0);
}

void HuggingFaceModel::put_rotary_share(double share) {
  const auto head = head_size > 0 ? head_size : hidden / heads;
  const auto size = static_cast<int>(share * static_cast<double>(head));
  if (share < 1) put("rotary_size", size);
}

int HuggingFaceModel::read_dense_layers() {
  const Spellings key = {"mlp_only_layers"};
  require({"decoder_sparse_step"}, number({"decoder_sparse_step"}, 1) == 1, experts_everywhere);
  const auto* list = settings.find(key);
  if (list == nullptr) return 0;
  for (std::size_t i = 0; i < list->entries.size(); ++i)
    require(key, list->entries[i].text == std::to_string(i), experts_everywhere);
  return static_cast<int>(list->entries.size());
}

void HuggingFaceModel::put_experts(int number, int top_k, int mlp, const std::string& further_keys) {
  put("experts", fmt::format("{{ number: {}, top_k: {}, mlp: {}{} }}", number, top_k, mlp, further_keys));
  const Spellings version_key = {"transformers_version"};
  if (const auto version = settings.text(version_key); version && version->starts_with("4."))
    settings.note(
        version_key,
        "transformers before version 5 runs experts one after the other: set 'job.experts: loop' for it");
}

}  // namespace gradway
