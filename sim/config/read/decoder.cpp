// SPDX-License-Identifier: Apache-2.0
#include "sim/config/read/model_parts.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "sim/workload/architectures.hpp"

namespace gradway::config {
namespace {

/// Reports a number of parameters that is implausibly large although each size is valid.
void check_parameters(Reader& file, double parameters) {
  constexpr double most = 1e15;
  if (!file.is_valid() || parameters <= most) return;
  file.error(file.value_place("layers"), fmt::format("the model would have {:.1e} parameters", parameters),
             "at most 1e15; check its sizes");
}

/// An estimate.
double parameters_of(const DecoderShape& shape) {
  double attention = 4.0 * shape.hidden * shape.size_of_head();
  if (const auto& latent = shape.latent)
    attention = (latent->plain_head + latent->rotary_head + latent->value_head) *
                (static_cast<double>(shape.hidden) + latent->q_rank + latent->kv_rank);
  double mlp = shape.mlp;
  if (const auto& experts = shape.experts)
    mlp = std::max(mlp, static_cast<double>(experts->number + experts->shared) * experts->mlp);
  return shape.layers * (shape.heads * attention + 3 * mlp * shape.hidden);
}

void too_large(Reader& reader, const char* key, int value, const std::string& most_is, int most) {
  if (!reader.is_valid() || value <= most) return;
  reader.error(reader.value_place(key), fmt::format("{} {} is more than {}", key, value, most_is),
               fmt::format("at most {}", most));
}

void check_biases(Reader& file, const DecoderShape& shape) {
  if (shape.output_bias && shape.tied_output && !shape.masked_lm)
    file.error(file.value_place("output_bias"),
               "'output_bias' conflicts with 'tied_output': a tied output layer has no bias",
               "keep one of them", {{file.value_place("tied_output"), "tied_output is set here"}});
}

void check_positions(Reader& file, const DecoderShape& shape) {
  const Note note{file.value_place("positions"), "the positions are here"};
  if (shape.positions != DecoderShape::Positions::rotary) {
    for (const auto* key : {"rotary_size", "no_rotary_every"})
      file.forbid(key, fmt::format("'{}' requires rotary positions", key), "leave it out", note);
  }
  if (shape.positions != DecoderShape::Positions::learned)
    return file.forbid("position_rows", "'position_rows' requires learned positions", "leave it out", note);
  if (shape.position_rows > 0 && shape.position_rows < shape.sequence)
    file.error(
        file.value_place("position_rows"),
        fmt::format("sequence {} is longer than the {} positions", shape.sequence, shape.position_rows),
        fmt::format("position_rows {} would fit", shape.sequence),
        {{file.value_place("sequence"), "the sequence is here"}});
}

/// Checks the keys of attention without latent projections.
void check_heads(Reader& file, const DecoderShape& shape) {
  if (!file.has("head_size")) check_divides(file, "heads", shape.heads, "hidden", shape.hidden);
  if (file.has("kv_heads")) check_divides(file, "kv_heads", shape.kv_heads, "heads", shape.heads);
  if (file.is_valid())
    too_large(file, "rotary_size", shape.rotary_size, "the size of a head", shape.size_of_head());
}

/// Checks which layers read all tokens, and what the others do.
void check_layer_kinds(Reader& file, const DecoderShape& shape) {
  if (file.is_valid() && shape.linear && shape.window > 0)
    file.error(file.value_place("window"), "'window' has no effect on linear attention", "leave it out",
               {{file.key_place("linear_attention"), "linear attention is here"}});
  if (shape.full_every > 0 && !shape.linear && shape.window == 0)
    file.error(file.value_place("full_attention_every"),
               "'full_attention_every' requires 'window' or 'linear_attention' for the other layers",
               "set one of them, or leave it out");
}

void check_attention(Reader& file, const DecoderShape& shape) {
  if (!shape.latent) {
    check_heads(file, shape);
    return check_layer_kinds(file, shape);
  }
  const Note note{file.key_place("latent_attention"), "latent attention is here"};
  for (const auto* key :
       {"kv_heads", "head_size", "qk_norm", "qkv_bias", "rotary_size", "no_rotary_every", "attention_gate",
        "attention_sinks", "packed_projections", "window", "linear_attention", "full_attention_every"})
    file.forbid(key, fmt::format("'{}' is not used by latent attention", key), "leave it out", note);
  if (file.is_valid() && shape.positions != DecoderShape::Positions::rotary)
    file.error(file.value_place("positions"), "latent attention requires rotary positions",
               "write 'positions: rotary'", {note});
}

void check_tower(Reader& file, const char* key, const DecoderShape& shape, const Tower& tower) {
  const auto refuse = [&](std::string message, std::string hint) {
    file.error(file.key_place(key), std::move(message), std::move(hint));
  };
  if (tower.hidden % tower.heads != 0)
    refuse(fmt::format("{} heads do not divide hidden {} of the tower", tower.heads, tower.hidden),
           "write the numbers of the model's vision_config or audio_config");
  if (tower.patches % tower.join != 0)
    refuse(fmt::format("{} patches of which {} become one token (join) leave a remainder", tower.patches,
                       tower.join),
           "the patches of a whole sample count");
  else if (tower.patches / tower.join > shape.sequence)
    refuse(fmt::format("{} patches become {} tokens, more than the {} of a sample", tower.patches,
                       tower.patches / tower.join, shape.sequence),
           "the tokens of images and sound are part of 'sequence'");
}

Experts read_experts(Reader& map, int layers) {
  Experts experts;
  read_fields(map, experts);
  too_large(map, "top_k", experts.top_k, fmt::format("the {} experts", experts.number), experts.number);
  if (layers > 0) too_large(map, "dense_layers", experts.dense_layers, "the layers allow", layers - 1);
  for (const auto& [key, is_set] :
       {std::pair{"shared_gate", experts.shared_gate}, std::pair{"shared_mlp", experts.shared_mlp > 0}})
    if (map.is_valid() && is_set && experts.shared == 0)
      map.error(map.value_place(key), fmt::format("'{}' requires shared experts", key),
                "set their number, such as 'shared: 1'");
  map.finish();
  return experts;
}

void read_mlps(Reader& file, DecoderShape& shape) {
  if (auto experts = file.maybe_map("experts")) {
    shape.experts = read_experts(*experts, shape.layers);
    if (shape.experts->dense_layers == 0 && shape.experts->every == 1)
      return file.forbid("mlp", "'mlp' has no effect: every layer has experts, which have their own 'mlp'",
                         "leave it out, or set experts.dense_layers to the number of layers without experts",
                         Note{file.key_place("experts"), "the experts are here"});
  }
  shape.mlp = file.required("mlp", integer(1, widest));
}

/// The width of MLPs, or of shared experts, that tensor-parallel ranks must divide.
int divided_width(const DecoderShape& shape) {
  const auto& experts = shape.experts;
  if (!experts) return shape.mlp;
  const int shared = experts->shared * experts->mlp;
  if (experts->dense_layers == 0 && experts->every == 1) return shared;  // 0: there is none
  return shared > 0 ? std::gcd(shape.mlp, shared) : shape.mlp;
}

}  // namespace

ModelShape read_decoder(Reader& file, Model& model) {
  DecoderShape shape;
  read_fields(file, shape);
  if (shape.kv_heads == 0 && !shape.latent) shape.kv_heads = shape.heads;
  if (shape.norm_placement != DecoderShape::NormPlacement::before &&
      shape.blocks != DecoderShape::Blocks::sequential)
    file.error(file.value_place("norm_placement"), "parallel blocks have norms before attention and MLP only",
               "leave it out", {{file.value_place("blocks"), "the blocks are here"}});
  check_biases(file, shape);
  check_positions(file, shape);
  check_attention(file, shape);
  if (shape.tower && file.is_valid()) check_tower(file, "tower", shape, *shape.tower);
  if (shape.sound_tower && file.is_valid()) check_tower(file, "sound_tower", shape, *shape.sound_tower);
  read_mlps(file, shape);
  if (file.is_valid()) check_parameters(file, parameters_of(shape));
  if (!file.is_valid()) return shape;
  set_forward_pass(model, decoder(shape));
  model.input_per_sample = Bytes{(shape.sequence + 1.0) * token_bytes};
  if (const auto& tower = shape.tower)
    model.input_per_sample += Bytes{fp32_bytes * tower->patches * tower->patch_inputs};
  if (const auto& tower = shape.sound_tower)
    model.input_per_sample += Bytes{2 * fp32_bytes * tower->patches * tower->patch_inputs};
  model.tokens_per_sample = shape.sequence;
  const bool is_sequential = shape.blocks == DecoderShape::Blocks::sequential;
  const int kv_heads = shape.kv_heads > 0 ? shape.kv_heads : shape.heads;
  const bool divides_heads = !shape.linear && shape.qk_norm != DecoderShape::QkNorm::all_heads;
  if (divides_heads && ((!shape.experts && !shape.latent) || is_sequential))
    model.tensor = {shape.heads, kv_heads, divided_width(shape)};
  if (shape.experts) model.experts = {shape.experts->number, shape.experts->mlp, shape.experts->top_k};
  if (!shape.linear && !shape.masked_lm) model.causal_heads = shape.heads;
  model.causal_kv_heads = kv_heads;
  if (shape.positions == DecoderShape::Positions::learned) model.longest_sequence = shape.sequence;
  return shape;
}

void read_speech(Reader& file, Model& model) {
  SpeechShape shape;
  read_fields(file, shape);
  shape.decoder_layers = file.optional("decoder_layers", integer(1, most_layers), shape.layers);
  check_divides(file, "heads", shape.heads, "hidden", shape.hidden);
  config::check_positions(file, shape.sequence, shape.positions);
  check_parameters(file, 1.0 * (shape.layers + shape.decoder_layers) * shape.hidden *
                             (8.0 * shape.hidden + 2.0 * shape.mlp));
  if (!file.is_valid()) return;
  set_forward_pass(model, speech(shape));
  model.input_per_sample = Bytes{fp32_bytes * shape.mel_bins * shape.frames + token_bytes * shape.sequence};
  model.tokens_per_sample = shape.sequence;
  model.longest_sequence = shape.positions;
}

void read_encoder_decoder(Reader& file, Model& model) {
  EncoderDecoderShape shape{.target_sequence = 0};
  read_fields(file, shape);
  check_parameters(
      file, 2.0 * shape.layers * shape.hidden * (8.0 * shape.heads * shape.head_size + 2.0 * shape.mlp));
  if (!file.is_valid()) return;
  set_forward_pass(model, encoder_decoder(shape));
  const auto target = shape.target_sequence > 0 ? shape.target_sequence : shape.sequence;
  model.input_per_sample = Bytes{(2.0 * shape.sequence + target) * token_bytes};  // tokens, mask, labels
  model.tokens_per_sample = shape.sequence;
}

}  // namespace gradway::config
