// SPDX-License-Identifier: Apache-2.0
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/contract.hpp"
#include "writers/experiment/experiment_parts.hpp"

// In templates.S: files of this folder.
extern "C" const char gradway_decoder_py[];
extern "C" const char gradway_vision_transformer_py[];
extern "C" const char gradway_residual_py[];
extern "C" const char gradway_conv_next_py[];

namespace gradway::report {
namespace {

// Words of decoder.py, by the enumerations of DecoderShape.
constexpr std::array<std::string_view, 4> position_words{"learned", "rotary", "alibi", "none"};
constexpr std::array<std::string_view, 5> activation_words{"gelu", "gelu", "relu", "swiglu", "geglu"};
constexpr std::array<std::string_view, 3> block_words{"sequential", "parallel", "parallel_one_norm"};

template <std::size_t count, class Word>
std::string word(const std::array<std::string_view, count>& words, Word value) {
  return fmt::format("\"{}\"", words[static_cast<std::size_t>(value)]);
}

PythonEntries sizes(const DecoderShape& shape, const Job& job, bool is_written_out) {
  const bool learned = shape.positions == DecoderShape::Positions::learned;
  const bool layer_norm = shape.norm == DecoderShape::Norm::layer_norm;
  const int kv_heads = shape.kv_heads > 0 ? shape.kv_heads : shape.heads;
  const int rows = shape.position_rows > 0 ? shape.position_rows : shape.sequence;
  const auto number = [](auto value) { return fmt::format("{}", value); };
  return {{"layers", number(shape.layers)},
          {"heads", number(shape.heads)},
          {"kv_heads", number(kv_heads)},
          {"head_size", number(shape.size_of_head())},
          {"hidden", number(shape.hidden)},
          {"mlp", number(shape.mlp)},
          {"vocabulary", number(shape.padded_vocabulary())},
          {"tied_output", python_bool(shape.tied_output)},
          {"norm", layer_norm ? "\"layer_norm\"" : "\"rms_norm\""},
          {"positions", word(position_words, shape.positions)},
          {"position_rows", number(learned ? rows : 0)},
          {"rotary_size", number(shape.rotary_size > 0 ? shape.rotary_size : shape.size_of_head())},
          {"activation", word(activation_words, shape.activation)},
          {"blocks", word(block_words, shape.blocks)},
          {"bias", python_bool(shape.bias)},
          {"qkv_bias", python_bool(shape.qkv_bias.value_or(shape.bias))},
          {"attention_output_bias", python_bool(shape.attention_output_bias.value_or(shape.bias))},
          {"mlp_bias", python_bool(shape.mlp_bias.value_or(shape.bias))},
          {"output_bias", python_bool(shape.output_bias)},
          {"qk_norm", python_bool(shape.qk_norm != DecoderShape::QkNorm::none)},
          {"embedding_norm", python_bool(shape.embedding_norm)},
          {"dropout", python_bool(shape.dropout)},
          {"packed", python_bool(learned && layer_norm && kv_heads == shape.heads &&
                                 shape.qk_norm == DecoderShape::QkNorm::none)},
          {"composed_norms", python_bool(job.composed_norms || is_written_out)},
          {"composed_rotary", python_bool(is_written_out)}};
}

PythonEntries sizes(const VisionTransformerShape& shape) {
  const auto number = [](int value) { return fmt::format("{}", value); };
  return {{"image_size", number(shape.image_size)}, {"patch_size", number(shape.patch_size)},
          {"num_layers", number(shape.layers)},     {"num_heads", number(shape.heads)},
          {"hidden_dim", number(shape.hidden)},     {"mlp_dim", number(shape.mlp)},
          {"num_classes", number(shape.classes)}};
}

PythonEntries sizes(const ResidualShape& shape) {
  return {{"layers", fmt::format("[{}]", fmt::join(shape.blocks, ", "))},
          {"groups", fmt::format("{}", shape.groups)},
          {"width_per_group", fmt::format("{}", shape.width_per_group)},
          {"num_classes", fmt::format("{}", shape.classes)}};
}

PythonEntries sizes(const ConvNextShape& shape) {
  return {{"blocks", fmt::format("[{}]", fmt::join(shape.blocks, ", "))},
          {"channels", fmt::format("[{}]", fmt::join(shape.channels, ", "))},
          {"num_classes", fmt::format("{}", shape.classes)}};
}

}  // namespace

ModelCode model_code(const Scenario& scenario, const ModelShape& shape) {
  if (const auto* decoder = std::get_if<DecoderShape>(&shape))
    return {gradway_decoder_py,
            sizes(*decoder, scenario.job,
                  is_hugging_face(scenario.job.implementation, scenario.model.implementation)),
            decoder->vocabulary};
  if (const auto* vit = std::get_if<VisionTransformerShape>(&shape))
    return {gradway_vision_transformer_py, sizes(*vit), vit->classes, vit->image_size};
  if (const auto* residual = std::get_if<ResidualShape>(&shape))
    return {gradway_residual_py, sizes(*residual), residual->classes, residual->image_size};
  expects(std::holds_alternative<ConvNextShape>(shape), "the model has a shape");
  const auto& conv_next = std::get<ConvNextShape>(shape);
  return {gradway_conv_next_py, sizes(conv_next), conv_next.classes, conv_next.image_size};
}

}  // namespace gradway::report
