// SPDX-License-Identifier: Apache-2.0
// Encoders, and models of an encoder and a decoder.
#include "sim/import/training/hugging_face_encoders.hpp"

#include <string>

namespace gradway {

void read_t5(HuggingFaceModel& model) {
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

void read_bert(HuggingFaceModel& model) {
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
  const auto* heads = model.settings.find({"architectures"});
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

/// ModernBERT: a decoder without a causal mask, with windows in all but every third layer.
void read_modernbert(HuggingFaceModel& model) {
  const Defaults defaults{50368, 768, 1152, 22, 12, 0, 8192, 0, true};
  model.read_blocks(defaults);
  model.read_sequence({"max_position_embeddings"}, defaults.positions);
  model.put("norm", "layer_norm");
  model.put("bias", model.flag({"norm_bias"}, false));
  model.put("positions", "rotary");
  model.put("masked_lm", true);
  model.put("output_bias", model.flag({"decoder_bias"}, true));
  model.put("embedding_norm", true);
  model.put("packed_projections", "split");
  model.read_activation({"hidden_activation"}, "gelu", true);
  for (const auto* key : {"attention_bias", "mlp_bias"})
    model.reject({key}, "gradway's ModernBERT has no biases in its blocks");
  model.put("mlp", model.number({"intermediate_size"}, defaults.mlp));
  const auto window = model.number({"local_attention", "sliding_window"}, 128);
  const auto every = model.number({"global_attn_every_n_layers"}, 3);
  if (window >= model.sequence || every == 1) return;
  model.put("window", window);
  model.put("full_attention_every", every);
}

void read_whisper(HuggingFaceModel& model) {
  model.put("kind", "speech");
  model.put("layers", model.number({"encoder_layers"}, 4));
  model.put("decoder_layers", model.number({"decoder_layers"}, 4));
  const auto heads = model.number({"encoder_attention_heads"}, 6);
  model.put("heads", heads);
  model.require({"decoder_attention_heads"}, model.number({"decoder_attention_heads"}, heads) == heads,
                "gradway requires as many heads in the decoder as in the encoder");
  const auto hidden = model.number({"d_model"}, 384);
  model.put("hidden", hidden);
  const auto mlp = model.number({"encoder_ffn_dim"}, 4 * hidden);
  model.put("mlp", mlp);
  model.require({"decoder_ffn_dim"}, model.number({"decoder_ffn_dim"}, mlp) == mlp,
                "gradway requires MLPs of the same width in the decoder and in the encoder");
  model.put("vocabulary", model.number({"vocab_size"}, 51865));
  model.put("mel_bins", model.number({"num_mel_bins"}, 80));
  model.put("frames", 2 * model.number({"max_source_positions"}, 1500));
  model.put("positions", model.read_sequence({"max_target_positions"}, 448, true));
  model.require({"activation_function"},
                model.settings.text({"activation_function"}).value_or("gelu").starts_with("gelu"),
                "gradway only supports GELU in Whisper");
}

void read_vit(HuggingFaceModel& model) {
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

}  // namespace gradway
