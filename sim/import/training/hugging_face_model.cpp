// SPDX-License-Identifier: Apache-2.0
#include "sim/import/training/hugging_face_model.hpp"

#include <fmt/format.h>

namespace gradway {
namespace {

constexpr int most_of_config = 1 << 24;
constexpr auto experts_everywhere = "gradway has experts in all layers behind the first ones";

}  // namespace

int HuggingFaceModel::number(Spellings keys, int otherwise, int least) {
  return settings.whole_number(keys, least, most_of_config).value_or(otherwise);
}

void HuggingFaceModel::put(std::string key, bool value) {
  draft.keys.emplace_back(std::move(key), value ? "true" : "false");
}

void HuggingFaceModel::only(Spellings keys, bool is_so, const std::string& what) {
  if (!is_so) settings.problem(settings.where(keys), what, "describe it in a file of your own");
}

int HuggingFaceModel::take_sequence(Spellings keys, int otherwise, bool has_rows) {
  const auto positions = number(keys, otherwise);
  if (asked_ && has_rows && *asked_ > positions)
    settings.problem(settings.where(keys),
                     fmt::format("--sequence {}, but the model has {} positions", *asked_, positions),
                     fmt::format("at most {}", positions));
  if (!asked_)
    settings.note_missing(fmt::format(
        "sequence: {} tokens a sample, all that the model has positions for; --sequence says otherwise",
        positions));
  sequence = asked_.value_or(positions);
  put("sequence", sequence);
  return positions;
}

void HuggingFaceModel::take_activation(Spellings keys, const std::string& otherwise, bool is_gated) {
  const auto name = settings.text(keys).value_or(otherwise);
  const bool is_gelu = name.starts_with("gelu");  // gelu_new, gelu_pytorch_tanh ...: other approximations
  if (is_gated && (name == "silu" || name == "swish")) return put("activation", "swiglu");
  if (is_gelu) return put("activation", is_gated ? "geglu" : "gelu");
  if (!is_gated && name == "relu") return put("activation", "relu");
  settings.problem(settings.where(keys), fmt::format("'{}' is no activation that gradway knows here", name),
                   is_gated ? "known: silu, gelu, gelu_pytorch_tanh" : "known: gelu, gelu_new, relu");
}

void HuggingFaceModel::take_blocks(const Defaults& of, Spellings layers, Spellings heads_key,
                                   Spellings hidden_key) {
  put("kind", "decoder");
  put("layers", number(layers, of.layers));
  heads = number(heads_key, of.heads);
  hidden = number(hidden_key, of.hidden);
  put("heads", heads);
  put("hidden", hidden);
  put("vocabulary", number({"vocab_size"}, of.vocabulary));
  put("tied_output", flag({"tie_word_embeddings"}, of.tied));
}

void HuggingFaceModel::take_blocks(const Defaults& of) {
  take_blocks(of, {"num_hidden_layers", "n_layer"}, {"num_attention_heads", "n_head"},
              {"hidden_size", "n_embd"});
}

void HuggingFaceModel::take_llama_like(const Defaults& of, const std::string& activation) {
  take_blocks(of);
  take_sequence({"max_position_embeddings"}, of.positions);
  put("bias", false);
  put("norm", "rms_norm");
  put("positions", "rotary");
  take_activation({"hidden_act", "hidden_activation"}, activation, true);
}

void HuggingFaceModel::take_kv_heads(const Defaults& of) {
  put("kv_heads", number({"num_key_value_heads"}, of.kv_heads > 0 ? of.kv_heads : heads));
  const auto head = number({"head_dim"}, of.head_size);
  if (head > 0) put("head_size", head);
}

void HuggingFaceModel::take_attention_bias() {
  if (!flag({"attention_bias"}, false)) return;
  put("qkv_bias", true);
  put("attention_output_bias", true);
}

void HuggingFaceModel::take_window(int otherwise, bool is_used) {
  const Spellings key = {"sliding_window"};
  const auto window = settings.is_null(key) ? 0 : number(key, otherwise);
  if (!is_used || window == 0 || window >= sequence) return;
  const auto text =
      fmt::format("gradway's attention is to all tokens, more work than to the last {}", window);
  if (settings.has(key)) return settings.note(key, text);
  settings.note_missing(fmt::format("sliding_window is not said, so {}: {}", window, text));
}

void HuggingFaceModel::put_rotary_share(double share) {
  const auto head = hidden / heads;
  const auto size = static_cast<int>(share * static_cast<double>(head));
  if (share < 1) put("rotary_size", size);
}

int HuggingFaceModel::take_dense_layers() {
  const Spellings key = {"mlp_only_layers"};
  only({"decoder_sparse_step"}, number({"decoder_sparse_step"}, 1) == 1, experts_everywhere);
  const auto* list = settings.find(key);
  if (list == nullptr) return 0;
  for (std::size_t i = 0; i < list->entries.size(); ++i)
    only(key, list->entries[i].text == std::to_string(i), experts_everywhere);
  return static_cast<int>(list->entries.size());
}

void HuggingFaceModel::put_experts(int number, int top_k, int mlp, const std::string& more) {
  put("experts", fmt::format("{{ number: {}, top_k: {}, mlp: {}{} }}", number, top_k, mlp, more));
  const Spellings version_key = {"transformers_version"};
  if (const auto version = settings.text(version_key); version && version->starts_with("4."))
    settings.note(
        version_key,
        "transformers before version 5 runs experts one after the other: then write 'experts: loop' below "
        "job");
}

}  // namespace gradway
