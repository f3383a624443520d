// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "sim/workload/attention_choice.hpp"
#include "sim/workload/decoder.hpp"
#include "sim/workload/lora.hpp"
#include "sim/workload/model.hpp"

namespace gradway {

/// torchvision's VisionTransformer. Image and patch sizes are in pixels.
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
/// for every token.
struct EncoderShape {
  int layers = 12;
  int heads = 12;
  int hidden = 768;
  int mlp = 3072;
  int vocabulary = 30522;
  int positions = 512;  ///< rows of the position embedding, at least `sequence`
  int types = 2;
  int sequence = 512;
  int outputs = 2;         ///< per token; BERT for SQuAD has 2: start and end of the answer
  bool pooler = true;      ///< its gradient is reduced even if the loss does not need it
  bool masked_lm = false;  ///< the output layer is that of masked language modelling, tied to the embedding
};

/// In the order of `LayerShape::Kind`.
inline constexpr std::array<std::string_view, 6> layer_kind_words{"conv2d",   "batch_norm",   "relu",
                                                                  "max_pool", "average_pool", "linear"};

/// A layer of a convolutional or plain network, as a `layers` model lists them.
struct LayerShape {
  enum class Kind { conv2d, batch_norm, relu, max_pool, average_pool, linear };
  Kind kind = Kind::conv2d;
  std::string name;
  int outputs = 0;  ///< conv2d: channels; linear: features
  int kernel = 1;   ///< conv2d and pools; for a pool, 0 means the whole image
  int stride = 1;
  int padding = 0;
  bool bias = true;
};

/// Size of the input images of a `layers` model.
struct ImageShape {
  int channels = 3;
  int height = 224;
  int width = 224;
};

/// A layer of a synthetic model for analysis, with explicit times and one parameter tensor.
struct SyntheticLayer {
  std::string name;
  int repeat = 1;
  Seconds forward{};
  Seconds backward{};
  std::int64_t parameters = 0;
  Bytes output{};  ///< per sample
};

/// torchvision's ConvNeXt. @source torchvision 0.26, models/convnext.py
struct ConvNextShape {
  int image_size = 224;
  std::array<int, 4> blocks = {3, 3, 27, 3};
  std::array<int, 4> channels = {128, 256, 512, 1024};
  int classes = 1000;
};

/// torchvision's ResNet with bottleneck blocks (stride in the 3x3 convolution); ResNeXt if it has groups.
/// @source torchvision 0.23, models/resnet.py
struct ResidualShape {
  int image_size = 224;
  std::array<int, 4> blocks = {3, 4, 6, 3};
  int groups = 1;
  int width_per_group = 64;
  int classes = 1000;
};

/// SSD300 on the first three stages of ResNet-50, of which the third has no stride. Six feature maps of 38,
/// 19, 10, 5, 3 and 1 pixels per side have 4, 6, 6, 6, 4 and 4 boxes per pixel.
/// @source github.com/NVIDIA/DeepLearningExamples, PyTorch/Detection/SSD/ssd/model.py
struct DetectorShape {
  static constexpr int image_size = 300;
  int classes = 81;  ///< classes of COCO and the background
};

/// A recommendation model in the shape of DLRM: a bottom MLP of the dense features, rows of embedding tables
/// of the same width as its result, dot products of all pairs of these features, and a top MLP.
/// @source Naumov et al., Deep Learning Recommendation Model, 2019; github.com/facebookresearch/dlrm
struct RecommenderShape {
  int dense_features = 13;
  std::vector<int> bottom;  ///< widths of its layers
  std::vector<int> top;
  int tables = 0;
};

ForwardPass vision_transformer(const VisionTransformerShape& shape);
ForwardPass encoder(const EncoderShape& shape);
ForwardPass conv_next(const ConvNextShape& shape);
ForwardPass residual_network(const ResidualShape& shape);
ForwardPass detector(const DetectorShape& shape);
ForwardPass recommender(const RecommenderShape& shape);
/// @param layers in order; each reads the output of the one before
/// @pre every kernel fits its padded input
ForwardPass sequential(const ImageShape& input, const std::vector<LayerShape>& layers);
/// Sets the forward pass of a model and the layers that follow from it.
void set_forward_pass(Model& model, ForwardPass run);

std::vector<Layer> synthetic(const std::vector<SyntheticLayer>& layers);

/// The layers of a network in the order of its forward pass, with their parameters and the work per sample.
/// @param sequence tokens per sample of text models; 0: the model's own
/// @param megatron layers of Megatron-Core's modules, with packed projections
/// @param lora layers with adapters; all other parameters are frozen
/// @param compiled layers in the order of torch.compile's kernels, which differs from that of eager mode
/// @param hugging_face layers of transformers' modules
/// @param fusions of Megatron's modules, which make one layer of several
std::vector<Layer> layers_of(const ForwardPass& network, int sequence = 0, bool megatron = false,
                             const std::optional<Lora>& lora = {}, bool compiled = false,
                             bool hugging_face = false, Fusions fusions = Fusions::all);

/// The kinds of attention heads in a network; empty if it has no attention.
std::set<AttentionHead> attention_heads_of(const ForwardPass& network);

/// Whether a network has RMSNorms that run as a single kernel.
bool has_rms_norm_kernels(const ForwardPass& network);
bool has_convolutions(const ForwardPass& network);
bool has_attention(const ForwardPass& network);

}  // namespace gradway
