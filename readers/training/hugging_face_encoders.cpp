// SPDX-License-Identifier: Apache-2.0
// Encoders, and models of an encoder and a decoder.
#include "readers/training/hugging_face_model.hpp"
#include "sim/base/text.hpp"

namespace gradway {
namespace {

/// Puts the sizes that a row of dialects/hugging_face.txt lists: our key, and theirs with its default.
void put_sizes(HuggingFaceModel& model, std::string_view model_type) {
  for (const auto& row : dialects::hugging_face().others) {
    if (row.kind != "sizes" || row.word(0) != model_type) continue;
    model.put("kind", row.value("kind"));
    for (const auto& [key, value] : row.values)
      if (const auto words = words_in(value); words.size() == 2)
        model.put(std::string{key}, model.number(words[0], *leading_number(words[1])));
  }
}

/// Refuses a file in which a key has another value than another one, which is its default.
void require_same(HuggingFaceModel& model, std::string_view key, std::string_view other, int standard,
                  const std::string& message) {
  const auto size = model.number(other, standard);
  model.require(key, model.number(key, size) == size, message);
}

void require_gelu(HuggingFaceModel& model, std::string_view key, const std::string& message) {
  model.require(key, model.settings.text(key).value_or("gelu").starts_with("gelu"), message);
}

/// @param what the tower encodes @param key of the tower
void note_patches(HuggingFaceModel& text, const char* what, const char* key, int patches, int join) {
  text.settings.note_missing(
      fmt::format("the encoder of {0} is trained with the text ('{1}.frozen: true' in the model file freezes "
                  "it); {0}: {2} "
                  "patches of a sample, which become {3} of its tokens ('{1}.patches')",
                  what, key, patches, patches / join));
}

}  // namespace

void read_t5(HuggingFaceModel& model) {
  put_sizes(model, "t5");
  require_same(model, "num_decoder_layers", "num_layers", 6,
               "gradway requires as many decoder layers as encoder layers in T5");
  model.require("feed_forward_proj", model.settings.text("feed_forward_proj").value_or("relu") == "relu",
                "gradway supports T5 v1.0, with ReLU, but not v1.1");
  model.require("tie_word_embeddings", model.flag("tie_word_embeddings", true),
                "gradway supports T5 v1.0, with a tied output, but not v1.1");
  model.read_sequence("n_positions", 512);
}

void read_bert(HuggingFaceModel& model) {
  put_sizes(model, "bert");
  model.put("positions", model.read_sequence("max_position_embeddings", 512, true));
  require_gelu(model, "hidden_act", "gradway only supports GELU in encoders");
  const auto* heads = model.settings.find("architectures");
  const auto head = heads != nullptr && !heads->entries.empty() ? heads->entries[0].text : std::string{};
  if (head.ends_with("ForMaskedLM")) {
    model.put("masked_lm", true);
    return model.put("pooler", false);
  }
  model.put("outputs", 2);
  if (head.ends_with("ForQuestionAnswering")) return model.put("pooler", false);
  model.settings.note_missing(
      "outputs: 2 per token, as for question answering, and a pooler; gradway does not support other heads "
      "than those of question answering and of masked language models");
}

void read_whisper(HuggingFaceModel& model) {
  put_sizes(model, "whisper");
  require_same(model, "decoder_attention_heads", "encoder_attention_heads", 6,
               "gradway requires as many heads in the decoder as in the encoder");
  const auto hidden = model.number("d_model", 384);
  model.put("mlp", model.number("encoder_ffn_dim", 4 * hidden));
  require_same(model, "decoder_ffn_dim", "encoder_ffn_dim", 4 * hidden,
               "gradway requires MLPs of the same width in the decoder and in the encoder");
  model.put("frames", 2 * model.number("max_source_positions", 1500));
  model.put("positions", model.read_sequence("max_target_positions", 448, true));
  require_gelu(model, "activation_function", "gradway only supports GELU in Whisper");
}

void read_vit(HuggingFaceModel& model) {
  put_sizes(model, "vit");
  const auto* labels = model.settings.find("id2label");
  // The default of transformers is 2.
  const auto named = labels == nullptr ? 2 : static_cast<int>(labels->entries.size());
  model.put("classes", model.number("num_labels", named));
  model.require("num_channels", model.number("num_channels", 3) == 3,
                "gradway only supports images with 3 channels");
  model.require("qkv_bias", model.flag("qkv_bias", true),
                "gradway only supports vision transformers with biases");
  require_gelu(model, "hidden_act", "gradway only supports GELU in vision transformers");
}

bool read_tower(HuggingFaceModel& text, const SettingsFile& vision, std::string_view model_type) {
  const bool is_qwen = model_type.starts_with("qwen");
  HuggingFaceModel model{vision, std::nullopt};
  constexpr std::string_view width_key = "embed_dim hidden_size";
  constexpr std::string_view layers_key = "depth num_hidden_layers";
  constexpr std::string_view heads_key = "num_heads num_attention_heads";
  const bool is_known = (is_qwen || model_type == "llava") && model.settings.has(width_key) &&
                        model.settings.has(layers_key) && model.settings.has(heads_key);
  if (!is_known) return false;
  const int width = model.number(width_key, 1);
  const int patch = model.number("patch_size", 14);
  const int merge = is_qwen ? model.number("spatial_merge_size", 2) : 1;
  const int frames = is_qwen ? model.number("temporal_patch_size", 2) : 1;
  const int side = model.number("image_size", 336) / patch;
  // A side of an image of Qwen-VL varies; as many tokens as of a square of 64 patches, at most half of the
  // sample.
  constexpr int usual_patches = 64 * 64;
  const int join = merge * merge;
  const int patches = is_qwen ? std::min(usual_patches, std::max(1, text.sequence / 2) * join) : side * side;
  const bool is_llama = model_type.starts_with("qwen2_5");
  std::string windows;
  const auto* blocks = model.settings.find("fullatt_block_indexes");  // every n-th, as [7, 15, 23, 31]
  const auto first = blocks != nullptr && !blocks->entries.empty()
                         ? leading_number(blocks->entries.front().text)
                         : std::nullopt;
  if (first) {
    const int side_of_window = model.number("window_size", 112) / patch;
    windows =
        fmt::format(", window: {}, full_attention_every: {}", side_of_window * side_of_window, *first + 1);
  }
  text.put(
      "tower",
      fmt::format("{{ layers: {}, heads: {}, hidden: {}, mlp: {}, patches: {}, patch_inputs: {}, join: {}, "
                  "llama: {}, rotary: {}{} }}",
                  model.number(layers_key, 1), model.number(heads_key, 1), width,
                  model.number("intermediate_size", 4 * width), patches, 3 * frames * patch * patch, join,
                  is_llama, is_qwen, windows));
  model.settings.raise();
  note_patches(text, "images", "tower", patches, join);
  return true;
}

bool read_sound_tower(HuggingFaceModel& text, const SettingsFile& audio, std::string_view model_type) {
  HuggingFaceModel model{audio, std::nullopt};
  for (const auto& row : dialects::hugging_face().others) {
    if (row.kind != "sound" || row.word(0) != model_type) continue;
    const int width = model.number("d_model hidden_size", 1280);
    const int join = static_cast<int>(*leading_number(row.value("join")));
    const int patches = model.number("max_source_positions", 1500);
    // Windows of twice as many frames, of which two become a patch.
    const auto window = row.value("window").empty() ? 0 : model.number(row.value("window"), 100);
    text.put("sound_tower",
             fmt::format("{{ layers: {}, heads: {}, hidden: {}, mlp: {}, patches: {}, patch_inputs: {}, "
                         "join: {}, averaged: {}, rotary: false{} }}",
                         model.number("encoder_layers num_hidden_layers", 32),
                         model.number("encoder_attention_heads num_attention_heads", 20), width,
                         model.number("encoder_ffn_dim intermediate_size", 4 * width), patches,
                         model.number("num_mel_bins", 128), join, !row.value("averaged").empty(),
                         window > 0 ? fmt::format(", window: {}", window) : ""));
    model.settings.raise();
    note_patches(text, "sound", "sound_tower", patches, join);
    return true;
  }
  return false;
}

}  // namespace gradway
