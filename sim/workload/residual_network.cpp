// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "sim/workload/architectures.hpp"
#include "sim/workload/eager/eager.hpp"

namespace gradway {
namespace {

constexpr std::int64_t expansion = 4;  // output channels of a bottleneck over its inner channels

/// A convolution on a square image, as these networks have before each BatchNorm.
struct Convolution {
  std::int64_t outputs, kernel, stride = 1, padding = 0, groups = 1;
};

/// Square feature maps between two layers.
struct Maps {
  std::int64_t channels, side;
  std::int64_t elements() const { return channels * side * side; }
};

/// Adds layers, each of which reads the result of the one before.
class Stack {
 public:
  Stack(Eager& run, std::int64_t image_size) : run_{run}, at_{3, image_size} {
    tensor_ = run.input(static_cast<double>(at_.elements()));
  }

  /// The current result and its size.
  struct Point {
    Maps maps;
    Tensor tensor;
  };
  Point point() const { return {at_, tensor_}; }
  const Maps& at() const { return at_; }

  void convolve(const std::string& name, const Convolution& with, bool bias = false) {
    tensor_ = run_.conv2d(
        name, tensor_,
        {at_.channels, with.outputs, with.kernel, with.stride, with.padding, at_.side, bias, with.groups});
    at_ = {with.outputs, (at_.side + 2 * with.padding - with.kernel) / with.stride + 1};
  }
  void normalize(const std::string& name) {
    tensor_ = run_.batch_norm(name, tensor_, at_.channels, static_cast<double>(at_.side));
  }
  void relu(const std::string& name) { tensor_ = run_.relu(name, tensor_); }
  void pool(const std::string& name, std::int64_t kernel, std::int64_t stride, std::int64_t padding) {
    const auto before = at_.side;
    at_.side = (before + 2 * padding - kernel) / stride + 1;
    const auto outputs = static_cast<double>(at_.elements());
    tensor_ = at_.side == 1
                  ? run_.mean(name, tensor_, outputs)
                  : run_.max_pool(name, tensor_, at_.channels, static_cast<double>(before), outputs);
  }
  void add(const std::string& name, Tensor shortcut) { tensor_ = run_.add(name, tensor_, shortcut); }

  /// Continues from another point.
  void go_to(const Point& point) {
    at_ = point.maps;
    tensor_ = point.tensor;
  }

 private:
  Eager& run_;
  Maps at_;
  Tensor tensor_;
};

struct Bottleneck {
  std::int64_t planes, stride, groups, width_per_group;
};

void add_bottleneck(Stack& stack, const std::string& name, const Bottleneck& block) {
  const auto input = stack.point();
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
  auto shortcut = input.tensor;
  if (block.stride != 1 || input.maps.channels != outputs) {
    const auto main = stack.point();
    stack.go_to(input);
    stack.convolve(name + ".downsample.0", {outputs, 1, block.stride});
    stack.normalize(name + ".downsample.1");
    shortcut = stack.point().tensor;
    stack.go_to(main);
  }
  stack.add(name + ".residual", shortcut);
  stack.relu(name + ".relu3");
}

void add_stem(Stack& stack) {
  stack.convolve("conv1", {64, 7, 2, 3});
  stack.normalize("bn1");
  stack.relu("relu");
  stack.pool("maxpool", 3, 2, 1);
}

/// @param number number of the stage, from 1; each stage has twice the channels of the one before
void add_stage(Stack& stack, int number, int blocks, int stride, const ResidualShape& shape) {
  for (int i = 0; i < blocks; ++i) {
    add_bottleneck(stack, fmt::format("layer{}.{}", number, i),
                   {64LL << (number - 1), i == 0 ? stride : 1, shape.groups, shape.width_per_group});
  }
}

/// A further feature map of the detector: a 1x1 convolution to `middle` channels, then a 3x3 one to
/// `outputs`.
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

/// Adds two convolutions, for positions and classes of the boxes at each pixel. @return their results
std::array<Tensor, 2> add_heads(Stack& stack, std::size_t number, const Stack::Point& map, std::int64_t boxes,
                                std::int64_t classes) {
  stack.go_to(map);
  stack.convolve(fmt::format("loc.{}", number), {4 * boxes, 3, 1, 1}, true);
  const auto places = stack.point().tensor;
  stack.go_to(map);
  stack.convolve(fmt::format("conf.{}", number), {classes * boxes, 3, 1, 1}, true);
  return {places, stack.point().tensor};
}

}  // namespace

ForwardPass residual_network(const ResidualShape& shape) {
  return [shape](Eager& run) {
    Stack stack{run, shape.image_size};
    add_stem(stack);
    for (int stage = 1; stage <= 4; ++stage) {
      add_stage(stack, stage, shape.blocks[static_cast<std::size_t>(stage - 1)], stage == 1 ? 1 : 2, shape);
    }
    stack.pool("avgpool", stack.at().side, 1, 0);
    const auto logits = run.linear("fc", stack.point().tensor, 1, stack.at().channels, shape.classes);
    run.cross_entropy("loss", logits, 1, shape.classes);
  };
}

ForwardPass detector(const DetectorShape& shape) {
  return [shape](Eager& run) {
    const ResidualShape backbone;
    Stack stack{run, DetectorShape::image_size};
    add_stem(stack);
    add_stage(stack, 1, backbone.blocks[0], 1, backbone);
    add_stage(stack, 2, backbone.blocks[1], 2, backbone);
    add_stage(stack, 3, backbone.blocks[2], 1, backbone);
    constexpr FurtherMap maps[] = {
        {256, 512, 2, 1}, {256, 512, 2, 1}, {128, 256, 2, 1}, {128, 256, 1, 0}, {128, 256, 1, 0}};
    constexpr int boxes[] = {4, 6, 6, 6, 4, 4};
    std::vector<Stack::Point> seen{stack.point()};
    for (const auto& map : maps) {
      add_map(stack, fmt::format("additional_blocks.{}", seen.size() - 1), map);
      seen.push_back(stack.point());
    }
    std::int64_t total_boxes = 0;
    std::vector<Tensor> results;
    for (std::size_t i = 0; i < seen.size(); ++i) {
      const auto heads = add_heads(stack, i, seen[i], boxes[i], shape.classes);
      results.insert(results.end(), heads.begin(), heads.end());
      total_boxes += boxes[i] * seen[i].maps.side * seen[i].maps.side;
    }
    const auto joined = run.concatenate(results, static_cast<double>(total_boxes * shape.classes));
    run.cross_entropy("loss", joined, total_boxes, shape.classes);
  };
}

}  // namespace gradway
