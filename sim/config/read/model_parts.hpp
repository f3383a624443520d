// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sim/config/read/fields.hpp"
#include "sim/config/yaml/reader.hpp"
#include "sim/config/yaml/scalars.hpp"
#include "sim/scenario/catalogue/model_limits.hpp"
#include "sim/workload/architectures.hpp"
#include "sim/workload/model.hpp"
#include "sim/workload/model_shape.hpp"

namespace gradway::config {

inline constexpr double token_bytes = 8;  // PyTorch's token ids are int64

/// Reports that `divisor` does not divide `dividend`, both keys of the file.
void check_divides(Reader& file, const char* divisor_key, int divisor, const char* dividend_key,
                   int dividend);

/// Reports samples with more tokens than positions.
void check_positions(Reader& file, int sequence, int positions);

// Readers of model kinds. The model gets its layers if its keys are valid.
ModelShape read_decoder(Reader& file, Model& model);
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
