// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "sim/config/read/captured.hpp"
#include "sim/config/read/model_parts.hpp"
#include "sim/config/read/read.hpp"
#include "sim/config/yaml/quantities.hpp"
#include "sim/workload/architectures.hpp"

namespace gradway::config {
namespace {

ModelShape read_vision_transformer(Reader& file, Model& model) {
  VisionTransformerShape shape;
  read_fields(file, shape);
  check_divides(file, "patch_size", shape.patch_size, "image_size", shape.image_size);
  check_divides(file, "heads", shape.heads, "hidden", shape.hidden);
  if (!file.is_valid()) return {};
  set_forward_pass(model, vision_transformer(shape));
  model.input_per_sample = Bytes{3.0 * shape.image_size * shape.image_size * fp32_bytes};
  return shape;
}

void read_encoder(Reader& file, Model& model) {
  EncoderShape shape;
  read_fields(file, shape);
  if (shape.masked_lm) {
    file.forbid("outputs", "'outputs' has no effect: a masked language model has one per word",
                "leave it out", Note{file.value_place("masked_lm"), "masked_lm is set here"});
  } else {
    shape.outputs = file.required("outputs", integer(1, widest));
  }
  check_divides(file, "heads", shape.heads, "hidden", shape.hidden);
  check_positions(file, shape.sequence, shape.positions);
  if (!file.is_valid()) return;
  set_forward_pass(model, encoder(shape));
  model.input_per_sample = Bytes{3.0 * shape.sequence * token_bytes};  // tokens, types, mask
  model.tokens_per_sample = shape.sequence;
  model.longest_sequence = shape.positions;
}

ModelShape read_residual(Reader& file, Model& model) {
  ResidualShape shape;
  read_fields(file, shape);
  const auto blocks = file.list("blocks", integer(1, most_layers));
  if (file.is_valid() && blocks.size() != shape.blocks.size()) {
    const auto where = file.has("blocks") ? file.value_place("blocks") : file.key_place("blocks");
    file.error(where, fmt::format("a residual network has 4 stages, but 'blocks' lists {}", blocks.size()),
               "ResNet-50, for example, has 'blocks: [3, 4, 6, 3]'");
  }
  if (!file.is_valid()) return {};
  std::ranges::copy(blocks, shape.blocks.begin());
  set_forward_pass(model, residual_network(shape));
  model.input_per_sample = Bytes{3.0 * shape.image_size * shape.image_size * fp32_bytes};
  return shape;
}

ModelShape read_conv_next(Reader& file, Model& model) {
  ConvNextShape shape;
  read_fields(file, shape);
  const auto blocks = file.list("blocks", integer(1, most_layers));
  const auto channels = file.list("channels", integer(1, widest));
  for (const auto& [key, list] : {std::pair{"blocks", &blocks}, std::pair{"channels", &channels}}) {
    if (!file.is_valid() || list->size() == shape.blocks.size()) continue;
    const auto where = file.has(key) ? file.value_place(key) : file.key_place(key);
    file.error(
        where, fmt::format("a ConvNeXt has 4 stages, but '{}' lists {}", key, list->size()),
        "convnext_base, for example, has 'blocks: [3, 3, 27, 3]' and 'channels: [128, 256, 512, 1024]'");
  }
  if (file.is_valid() && shape.image_size % 32 != 0) {
    file.error(file.value_place("image_size"),
               fmt::format("image_size {} is not a multiple of 32", shape.image_size),
               fmt::format("image_size {} would fit", shape.image_size / 32 * 32));
  }
  if (!file.is_valid()) return {};
  std::ranges::copy(blocks, shape.blocks.begin());
  std::ranges::copy(channels, shape.channels.begin());
  set_forward_pass(model, conv_next(shape));
  model.input_per_sample = Bytes{3.0 * shape.image_size * shape.image_size * fp32_bytes};
  return shape;
}

void read_detector(Reader& file, Model& model) {
  DetectorShape shape;
  read_fields(file, shape);
  if (!file.is_valid()) return;
  set_forward_pass(model, detector(shape));
  model.input_per_sample = Bytes{3.0 * DetectorShape::image_size * DetectorShape::image_size * fp32_bytes};
}

void read_layers(Reader& file, Model& model) {
  const auto image = read_group<ImageShape>(file.map("input"));
  if (!file.has("layers")) file.map("layers");
  const auto shapes = read_layer_stack(file, image);
  if (!file.is_valid()) return;
  set_forward_pass(model, sequential(image, shapes));
  model.input_per_sample = Bytes{1.0 * image.channels * image.height * image.width * fp32_bytes};
}

void read_synthetic(Reader& file, Model& model) {
  if (!file.has("layers")) file.map("layers");
  const auto layers = read_groups<SyntheticLayer>(file, "layers");
  if (file.is_valid() && layers.empty())
    file.error(file.key_place("layers"), "a model requires at least one layer");
  model.optimizer_time = file.required("optimizer_time", duration_or_zero);
  model.input_per_sample = file.optional("input_per_sample", bytes_or_zero, Bytes{});
  file.forbid("anchors", "anchors have no effect: a synthetic model has explicit times", "leave them out",
              Note{file.value_place("kind"), "the model is synthetic"});
  if (file.is_valid()) model.layers = synthetic(layers);
}

/// Reports an anchor on the profile's own GPU: the difference to the profile is the profiler's overhead.
void refuse_own_anchor(Reader& anchor, const Reader& file, const Profile& profile, const Anchor& read) {
  if (read.gpu != profile.gpu) return;
  anchor.error(
      anchor.value_place("gpu"),
      fmt::format("an anchor on {} has no effect: the profile was recorded on that GPU", profile.gpu),
      "set 'step_time' of the profile to the step time without the profiler",
      {{file.value_place("gpu"), "the profile's GPU is here"}});
}

/// Reports a duplicate anchor.
void refuse_second_anchor(Reader& anchor, const std::vector<Anchor>& anchors) {
  const auto& read = anchors.back();
  const auto is_same = [&](const Anchor& earlier) {
    return earlier.gpu == read.gpu && earlier.precision == read.precision && earlier.batch == read.batch &&
           earlier.optimizer == read.optimizer;
  };
  if (!anchor.is_valid() || std::none_of(anchors.begin(), anchors.end() - 1, is_same)) return;
  anchor.error(
      anchor.value_place("batch"),
      fmt::format("duplicate anchor: another one on {} has the same precision, batch {} and optimizer",
                  read.gpu, read.batch),
      "keep the one that was measured under the conditions of the job");
}

/// A reader of a kind of models whose sizes are not kept.
template <auto read>
ModelShape without_shape(Reader& file, Model& model) {
  read(file, model);
  return {};
}

struct ModelReader {
  std::string_view name{};
  ModelShape (*read)(Reader&, Model&) = nullptr;
  bool has_times = false;
  bool has_program = true;  ///< its operations follow from its layers, as one of several programs runs them
};

constexpr std::array model_readers{ModelReader{"vision_transformer", read_vision_transformer},
                                   ModelReader{"decoder", read_decoder},
                                   ModelReader{"encoder", without_shape<read_encoder>},
                                   ModelReader{"encoder_decoder", without_shape<read_encoder_decoder>},
                                   ModelReader{"speech", without_shape<read_speech>},
                                   ModelReader{"residual", read_residual, false, false},
                                   ModelReader{"convnext", read_conv_next, false, false},
                                   ModelReader{"ssd300", without_shape<read_detector>, false, false},
                                   ModelReader{"recommender", without_shape<read_recommender>, false, false},
                                   ModelReader{"layers", without_shape<read_layers>, false, false},
                                   ModelReader{"synthetic", without_shape<read_synthetic>, true, false},
                                   ModelReader{"profile", without_shape<read_profile>, false, false},
                                   ModelReader{"captured", without_shape<read_captured>, false, false}};

Implementation implementation(const Node& node) {
  const auto given_words = std::span{implementation_words}.subspan(1);  // without "auto"
  return static_cast<Implementation>(1 + index_among("an implementation", given_words, node));
}

ModelReader model_reader(const Node& node) {
  std::vector<std::string_view> names;
  for (const auto& reader : model_readers) names.push_back(reader.name);
  return model_readers[index_among("a model kind", names, node)];
}

}  // namespace

Anchor read_anchor(Reader& anchor, std::vector<Named>& gpus) {
  gpus.push_back(anchor.required("gpu", named));
  Anchor result;
  result.gpu = gpus.back().name;
  result.precision = anchor.required("precision", precision);
  read_fields(anchor, result);
  anchor.exactly_one({"step_time", "rate"}, "the step time");
  const auto time = anchor.maybe("step_time", duration);
  const auto rate = anchor.maybe("rate", step_rate);
  result.step_time = time ? *time : rate.value_or(Seconds{});
  anchor.finish();
  return result;
}

ModelSpec read_model(Reader& file, const std::string& name) {
  ModelSpec spec;
  spec.model.name = name;
  spec.model.source = file.required("source", text);
  spec.kind = file.value_place("kind");
  const auto kind = file.required("kind", model_reader);
  if (kind.read == nullptr) return spec;  // the keys of the model are unknown
  spec.has_times = kind.has_times;
  spec.shape = kind.read(file, spec.model);
  if (kind.name == "captured") spec.strategy = read_captured_strategy(file);
  if (kind.has_program)
    spec.model.implementation = file.optional("implementation", implementation, Implementation::automatic);
  const auto& profile = spec.model.profile;
  if (profile) spec.anchor_gpus.push_back({profile->gpu, file.value_place("gpu")});
  if (!kind.has_times) {
    for (auto& anchor : file.maps("anchors")) {
      spec.model.anchors.push_back(read_anchor(anchor, spec.anchor_gpus));
      refuse_second_anchor(anchor, spec.model.anchors);
      if (profile) refuse_own_anchor(anchor, file, *profile, spec.model.anchors.back());
    }
  }
  file.finish();
  return spec;
}

}  // namespace gradway::config
