// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sim/workload/model.hpp"

namespace gradway {

/// torchvision's VisionTransformer. Sizes in pixels, tokens and elements.
struct VisionTransformerShape {
  int image_size = 224;
  int patch_size = 16;
  int layers = 12;
  int heads = 12;
  int hidden = 768;
  int mlp = 3072;
  int classes = 1000;
};

/// A GPT-2-like decoder: learned positions, pre-norm blocks, an output layer of its own unless tied.
struct DecoderShape {
  int layers = 12;
  int heads = 12;
  int hidden = 768;
  int mlp = 3072;
  int vocabulary = 50304;
  int sequence = 1024;
  bool tied_output = false;
  bool bias = true;
};

/// A BERT-like encoder: token, position and type embeddings, post-norm blocks, a pooler, and an output layer
/// on every token.
struct EncoderShape {
  int layers = 12;
  int heads = 12;
  int hidden = 768;
  int mlp = 3072;
  int vocabulary = 30522;
  int positions = 512;  ///< rows of the position embedding; `sequence` of them are used
  int types = 2;
  int sequence = 512;
  int outputs = 2;     ///< of each token; 2 as in BERT for SQuAD: where the answer starts and ends
  bool pooler = true;  ///< whose gradient is reduced, whether or not the loss needs it
};

/// A layer of a convolutional or plain network, as a `layers` model lists them.
struct LayerShape {
  enum class Kind { conv2d, batch_norm, relu, max_pool, average_pool, linear };
  Kind kind = Kind::conv2d;
  std::string name;
  int outputs = 0;  ///< conv2d: channels; linear: features
  int kernel = 1;   ///< conv2d and pools; 0 for a pool means "the whole image"
  int stride = 1;
  int padding = 0;
  bool bias = true;
};

/// Channels and pixels that enter a `layers` model.
struct ImageShape {
  int channels = 3;
  int height = 224;
  int width = 224;
};

/// A layer of a model made up for analysis: explicit times, one tensor of parameters.
struct SyntheticLayer {
  std::string name;
  int repeat = 1;
  Seconds forward{};
  Seconds backward{};
  std::int64_t parameters = 0;
};

std::vector<Layer> vision_transformer(const VisionTransformerShape& shape);
std::vector<Layer> decoder(const DecoderShape& shape);
std::vector<Layer> encoder(const EncoderShape& shape);
/// @param layers in order; each takes what the one before gives. @pre shapes fit (kernel <= padded image).
std::vector<Layer> sequential(const ImageShape& input, const std::vector<LayerShape>& layers);
std::vector<Layer> synthetic(const std::vector<SyntheticLayer>& layers);

}  // namespace gradway
