// SPDX-License-Identifier: Apache-2.0
#include "readers/training/hugging_face_model.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/base/text.hpp"

namespace gradway {
namespace {

constexpr int max_number = 1 << 24;
/// Tokens per sample of models with more positions, which are trained at their full context for the last few
/// per cent of their tokens only. @source Llama Team, "The Llama 3 Herd of Models", arXiv 2407.21783,
/// sections 3.4.1 and 3.4.2: 8,192 tokens, and 800 billion of 15.6 trillion at up to 131,072
constexpr int most_default_tokens = 8192;
constexpr auto experts_everywhere = "gradway requires experts in all layers after the first dense ones";

}  // namespace

int HuggingFaceModel::number(std::string_view keys, int otherwise, int least) {
  return settings.whole_number(keys, least, max_number).value_or(otherwise);
}

void HuggingFaceModel::require(std::string_view keys, bool is_supported, const std::string& message) {
  if (!is_supported)
    settings.problem(settings.where(keys), message,
                     "describe the model in a model file: docs/my-model.md shows how");
}

int HuggingFaceModel::read_sequence(std::string_view keys, int otherwise, bool has_rows) {
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

void HuggingFaceModel::read_activation(std::string_view keys, const std::string& otherwise, bool is_gated) {
  const auto name = settings.text(keys).value_or(otherwise);
  // gelu_pytorch_tanh and gelu_fast are kernels, as gelu is.
  const bool is_gelu = name.starts_with("gelu");
  if (!is_gated && name == "gelu_new") return put("activation", "gelu_new");
  if (is_gated && (name == "silu" || name == "swish")) return put("activation", "swiglu");
  if (is_gelu) return put("activation", is_gated ? "geglu" : "gelu");
  if (!is_gated && name == "relu") return put("activation", "relu");
  if (!is_gated && (name == "relu2" || name == "relu_squared")) return put("activation", "relu_squared");
  settings.problem(
      settings.where(keys), fmt::format("unsupported activation '{}'", name),
      is_gated ? "expected silu, gelu or gelu_pytorch_tanh" : "expected gelu, gelu_new, relu or relu2");
}

void HuggingFaceModel::read_blocks(const Defaults& defaults) {
  put("kind", "decoder");
  put("layers", number("num_hidden_layers n_layer n_layers", defaults.layers));
  heads = number("num_attention_heads n_head n_heads", defaults.heads);
  hidden = number("hidden_size n_embd n_embed d_model", defaults.hidden);
  put("heads", heads);
  put("hidden", hidden);
  put("vocabulary", number("vocab_size", defaults.vocabulary));
  put("tied_output", flag("tie_word_embeddings", defaults.tied));
}

void HuggingFaceModel::read_kv_heads(const Defaults& defaults) {
  put("kv_heads", number("num_key_value_heads attn_config.kv_n_heads",
                         defaults.kv_heads > 0 ? defaults.kv_heads : heads));
  const auto head = number("head_dim attention_head_dim", defaults.head_size);
  head_size = head;
  if (head > 0) put("head_size", head);
}

void HuggingFaceModel::read_dropout(double otherwise, double of_attention) {
  std::optional<double> most;
  for (const auto* key : {"resid_pdrop", "residual_dropout", "hidden_dropout", "dropout", "emb_pdrop"})
    if (const auto given = settings.number(key, 0)) most = std::max(most.value_or(0), *given);
  most = most.value_or(otherwise);
  for (const auto* key : {"embd_pdrop", "embedding_dropout", "activation_dropout"})
    most = std::max(*most, settings.number(key, 0).value_or(0));
  auto attention = settings.number("attention_dropout attn_pdrop", 0).value_or(of_attention);
  attention = settings.number("attention_probs_dropout_prob attn_config.attn_pdrop", 0).value_or(attention);
  if (*most > 0) put("dropout", true);
  if ((attention > 0) != (*most > 0)) put("attention_dropout", attention > 0);
}

void HuggingFaceModel::put_rotary_share(double share) {
  const auto head = head_size > 0 ? head_size : hidden / heads;
  const auto size = static_cast<int>(share * static_cast<double>(head));
  if (share < 1) put("rotary_size", size);
}

int HuggingFaceModel::read_dense_layers() {
  constexpr std::string_view key = "mlp_only_layers";
  require("decoder_sparse_step", number("decoder_sparse_step", 1) == 1, experts_everywhere);
  const auto* list = settings.find(key);
  if (list == nullptr) return 0;
  for (std::size_t i = 0; i < list->entries.size(); ++i)
    require(key, list->entries[i].text == std::to_string(i), experts_everywhere);
  return static_cast<int>(list->entries.size());
}

void HuggingFaceModel::put_experts(int number, int top_k, int mlp, const std::string& further_keys) {
  put("experts", fmt::format("{{ number: {}, top_k: {}, mlp: {}{} }}", number, top_k, mlp, further_keys));
  constexpr std::string_view version_key = "transformers_version";
  if (const auto version = settings.text(version_key); version && version->starts_with("4."))
    settings.note(
        version_key,
        "transformers before version 5 runs experts one after the other: set 'job.experts: loop' for it");
}

}  // namespace gradway
