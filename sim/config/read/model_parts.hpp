// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sim/config/yaml/reader.hpp"
#include "sim/config/yaml/scalars.hpp"
#include "sim/workload/architectures.hpp"
#include "sim/workload/model.hpp"

namespace gradway::config {

// Limits of model sizes.
inline constexpr int most_layers = 10000;
inline constexpr int widest = 1 << 20;
inline constexpr int most_tokens = 1 << 24;

inline constexpr double token_bytes = 8;  // PyTorch's token ids are int64

/// Reports that `divisor` does not divide `dividend`, both keys of the file.
void check_divides(Reader& file, const char* divisor_key, int divisor, const char* dividend_key,
                   int dividend);

/// Reads the keys that all transformers of tokens have.
template <class Shape>
void read_blocks(Reader& file, Shape& shape) {
  shape.layers = file.required("layers", integer(1, most_layers));
  shape.heads = file.required("heads", integer(1, widest));
  shape.hidden = file.required("hidden", integer(1, widest));
  shape.vocabulary = file.required("vocabulary", integer(1, most_tokens));
  shape.sequence = file.required("sequence", integer(1, most_tokens));
}

// Readers of model kinds. The model gets its layers if its keys are valid.
DecoderShape read_decoder(Reader& file, Model& model);
void read_encoder_decoder(Reader& file, Model& model);
void read_recommender(Reader& file, Model& model);
void read_speech(Reader& file, Model& model);

/// Reads the `layers` of a model of kind layers and propagates the image size: every kernel must fit the
/// output of the layer before.
std::vector<LayerShape> read_layer_stack(Reader& file, const ImageShape& input);

/// Reads the keys of a model of kind `profile` and checks them against each other. The gradients become the
/// model's layers, the last one first, because gradients are ready from the last layer to the first. These
/// layers have no work of their own.
void read_profile(Reader& file, Model& model);

}  // namespace gradway::config
