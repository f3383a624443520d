// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sim/workload/attention_choice.hpp"
#include "sim/workload/decoder.hpp"
#include "sim/workload/lora.hpp"
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
  Bytes output{};  ///< a sample
};

/// torchvision's ConvNeXt. @source torchvision 0.26, models/convnext.py
struct ConvNextShape {
  int image_size = 224;
  std::array<int, 4> blocks = {3, 3, 27, 3};
  std::array<int, 4> channels = {128, 256, 512, 1024};
  int classes = 1000;
};

ForwardPass vision_transformer(const VisionTransformerShape& shape);
ForwardPass encoder(const EncoderShape& shape);
ForwardPass conv_next(const ConvNextShape& shape);
/// @param layers in order; each takes what the one before gives. @pre shapes fit (kernel <= padded image).
ForwardPass sequential(const ImageShape& input, const std::vector<LayerShape>& layers);
/// Gives a model its forward pass, and its layers by it.
void take_forward_pass(Model& model, ForwardPass run);

std::vector<Layer> synthetic(const std::vector<SyntheticLayer>& layers);

/// The layers of a network, with their parameters and the work of a sample in the order of its forward pass.
/// @param sequence tokens a sample, for models of text; 0: the model's own
/// @param megatron as Megatron-Core's modules have them, with packed projections
/// @param lora with adapters, all else frozen
/// @param compiled in the order in which torch.compile's kernels run, which is not that of eager mode
std::vector<Layer> layers_of(const ForwardPass& network, int sequence = 0, bool megatron = false,
                             const std::optional<Lora>& lora = {}, bool compiled = false);

/// Of all attention in a network; empty: it has none.
std::set<AttentionHead> attention_heads_of(const ForwardPass& network);

/// Whether a network has RMSNorms that are one kernel each.
bool has_rms_norm_kernels(const ForwardPass& network);

bool has_rotary_positions(const ForwardPass& network);

}  // namespace gradway
