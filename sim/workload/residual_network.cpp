// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/residual_network.hpp"

#include <string>
#include <utility>

#include <fmt/format.h>

#include "sim/workload/layers.hpp"

namespace gradway {
namespace {

constexpr std::int64_t expansion = 4;  // of a bottleneck's channels on its way out

/// A convolution without bias on a square image, as all of these networks have before a BatchNorm.
struct Convolution {
  std::int64_t outputs, kernel, stride = 1, padding = 0, groups = 1;
};

/// What a layer passes on: channels of square maps.
struct Maps {
  std::int64_t channels, side;
  std::int64_t elements() const { return channels * side * side; }
};

/// Adds layers one after the other, each on what the one before passes on.
class Stack {
 public:
  explicit Stack(std::int64_t image_size) : at_{3, image_size} {}

  const Maps& at() const { return at_; }

  void convolve(const std::string& name, const Convolution& with, bool bias = false) {
    const auto before = at_;
    at_ = {with.outputs, (before.side + 2 * with.padding - with.kernel) / with.stride + 1};
    model_.push_back(layers::conv2d(name, {before.channels, at_.channels, with.kernel, at_.side, at_.side,
                                           before.side, before.side, bias, model_.empty(), with.groups}));
  }
  void normalize(const std::string& name) {
    model_.push_back(layers::batch_norm(name, at_.elements(), at_.channels));
  }
  void relu(const std::string& name) { model_.push_back(layers::elementwise(name, at_.elements())); }
  void pool(const std::string& name, std::int64_t kernel, std::int64_t stride, std::int64_t padding) {
    const auto before = at_;
    at_.side = (before.side + 2 * padding - kernel) / stride + 1;
    model_.push_back(layers::pool(name, before.elements(), at_.elements()));
  }
  void add_shortcut(const std::string& name) { model_.push_back(layers::residual(name, at_.elements())); }
  void add(Layer layer) { model_.push_back(std::move(layer)); }

  /// Adds a branch that starts from `maps`; what is passed on stays.
  template <class Branch>
  void branch(const Maps& maps, const Branch& add_layers) {
    const auto after = std::exchange(at_, maps);
    add_layers();
    at_ = after;
  }

  std::vector<Layer> take() && { return std::move(model_); }

 private:
  std::vector<Layer> model_;
  Maps at_;
};

struct Bottleneck {
  std::int64_t planes, stride, groups, width_per_group;
};

void add_bottleneck(Stack& stack, const std::string& name, const Bottleneck& block) {
  const auto input = stack.at();
  const auto width = block.planes * block.width_per_group / 64 * block.groups;
  const auto outputs = block.planes * expansion;
  stack.convolve(name + ".conv1", {width, 1});
  stack.normalize(name + ".bn1");
  stack.relu(name + ".relu1");
  stack.convolve(name + ".conv2", {width, 3, block.stride, 1, block.groups});
  stack.normalize(name + ".bn2");
  stack.relu(name + ".relu2");
  stack.convolve(name + ".conv3", {outputs, 1});
  stack.normalize(name + ".bn3");
  if (block.stride != 1 || input.channels != outputs) {
    stack.branch(input, [&] {
      stack.convolve(name + ".downsample.0", {outputs, 1, block.stride});
      stack.normalize(name + ".downsample.1");
    });
  }
  stack.add_shortcut(name + ".residual");
  stack.relu(name + ".relu3");
}

void add_stem(Stack& stack) {
  stack.convolve("conv1", {64, 7, 2, 3});
  stack.normalize("bn1");
  stack.relu("relu");
  stack.pool("maxpool", 3, 2, 1);
}

/// @param number of the stage, from 1; each after the first has twice the channels
void add_stage(Stack& stack, int number, int blocks, int stride, const ResidualShape& shape) {
  for (int i = 0; i < blocks; ++i) {
    add_bottleneck(stack, fmt::format("layer{}.{}", number, i),
                   {64LL << (number - 1), i == 0 ? stride : 1, shape.groups, shape.width_per_group});
  }
}

/// A further map for the detector: a 1x1 convolution to `middle` channels, a 3x3 one to `outputs`.
struct FurtherMap {
  std::int64_t middle, outputs, stride, padding;
};

void add_map(Stack& stack, const std::string& name, const FurtherMap& map) {
  stack.convolve(name + ".0", {map.middle, 1});
  stack.normalize(name + ".1");
  stack.relu(name + ".2");
  stack.convolve(name + ".3", {map.outputs, 3, map.stride, map.padding});
  stack.normalize(name + ".4");
  stack.relu(name + ".5");
}

/// Place and classes of the boxes at each pixel of a map.
void add_heads(Stack& stack, std::size_t number, const Maps& map, int boxes, int classes) {
  stack.branch(map, [&] { stack.convolve(fmt::format("loc.{}", number), {4 * boxes, 3, 1, 1}, true); });
  stack.branch(map, [&] {
    stack.convolve(fmt::format("conf.{}", number), {classes * boxes, 3, 1, 1}, true);
  });
}

}  // namespace

std::vector<Layer> residual_network(const ResidualShape& shape) {
  Stack stack{shape.image_size};
  add_stem(stack);
  for (int stage = 1; stage <= 4; ++stage) {
    add_stage(stack, stage, shape.blocks[static_cast<std::size_t>(stage - 1)], stage == 1 ? 1 : 2, shape);
  }
  stack.pool("avgpool", stack.at().side, 1, 0);
  stack.add(layers::linear("fc", 1, stack.at().channels, shape.classes));
  stack.add(layers::cross_entropy("loss", 1, shape.classes));
  return std::move(stack).take();
}

std::vector<Layer> detector(const DetectorShape& shape) {
  const ResidualShape backbone;
  Stack stack{DetectorShape::image_size};
  add_stem(stack);
  add_stage(stack, 1, backbone.blocks[0], 1, backbone);
  add_stage(stack, 2, backbone.blocks[1], 2, backbone);
  add_stage(stack, 3, backbone.blocks[2], 1, backbone);
  constexpr FurtherMap maps[] = {
      {256, 512, 2, 1}, {256, 512, 2, 1}, {128, 256, 2, 1}, {128, 256, 1, 0}, {128, 256, 1, 0}};
  constexpr int boxes[] = {4, 6, 6, 6, 4, 4};
  std::vector<Maps> seen{stack.at()};
  for (const auto& map : maps) {
    add_map(stack, fmt::format("additional_blocks.{}", seen.size() - 1), map);
    seen.push_back(stack.at());
  }
  std::int64_t all = 0;
  for (std::size_t i = 0; i < seen.size(); ++i) {
    add_heads(stack, i, seen[i], boxes[i], shape.classes);
    all += boxes[i] * seen[i].side * seen[i].side;
  }
  stack.add(layers::cross_entropy("loss", all, shape.classes));
  return std::move(stack).take();
}

}  // namespace gradway
