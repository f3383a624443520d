// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/blocks.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <tuple>

namespace gradway {
namespace {

bool is_number(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

/// Whether a component of a name is numbered, as "3" and "encoder_layer_3" are.
bool is_numbered(std::string_view component) {
  const auto underscore = component.rfind('_');
  return is_number(underscore == std::string_view::npos ? component : component.substr(underscore + 1));
}

/// A range of a list that consists of equal parts of `period` items.
struct Repetition {
  std::size_t first = 0;
  std::size_t period = 0;
  std::size_t times = 0;
};

/// The repetition that covers most of the list. Among equals, the one of the shortest period.
template <class Item>
Repetition repetition_of(const std::vector<Item>& list) {
  Repetition best;
  for (std::size_t period = 1; 2 * period <= list.size(); ++period) {
    std::size_t run = 0;
    for (std::size_t i = 0; i + period < list.size(); ++i) {
      run = list[i] == list[i + period] ? run + 1 : 0;
      const auto times = run / period + 1;
      if (times >= 2 && times * period > best.times * best.period) best = {i + 1 - run, period, times};
    }
  }
  return best;
}

using Kernel = std::tuple<std::string_view, KernelClass, std::int64_t>;

/// Assigns launches of the forward pass to blocks. The first or last block may differ a little, so that the
/// repetition misses it. Missing blocks get as many launches as the others.
void assign_forward(Blocks& blocks, const Profile& profile) {
  std::vector<Kernel> kernels;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < profile.launches.size(); ++i) {
    const auto& launch = profile.launches[i];
    if (launch.phase != ProfiledPhase::forward) continue;
    kernels.emplace_back(launch.name, launch.kind, launch.blocks);
    places.push_back(i);
  }
  const auto repetition = repetition_of(kernels);
  if (repetition.times == 0) return;
  const auto wanted = static_cast<std::size_t>(blocks.count);
  // A block may consist of several repetitions.
  const auto repetitions = std::max<std::size_t>(1, (repetition.times + wanted / 2) / wanted);
  const auto length = repetition.period * repetitions;
  const auto missing = wanted - std::min(wanted, repetition.times / repetitions);
  const auto first = repetition.first - std::min(repetition.first, missing * length);
  for (std::size_t i = first; i < places.size() && (i - first) / length < wanted; ++i)
    blocks.of_launch[places[i]] = static_cast<std::int32_t>((i - first) / length);
}

/// Assigns each launch of the backward pass to the block whose gradient becomes ready next.
void assign_backward(Blocks& blocks, const Profile& profile) {
  const auto gradients = profile.gradients.size();
  std::size_t next = 0;
  for (std::size_t i = 0; i < profile.launches.size(); ++i) {
    if (profile.launches[i].phase != ProfiledPhase::backward) continue;
    while (next < gradients && profile.gradients[next].after <= i) ++next;
    // Layers are in the order of the forward pass, gradients in that of the backward pass.
    if (next < gradients) blocks.of_launch[i] = blocks.of_layer[gradients - 1 - next];
  }
}

Blocks by_repetition(const Model& model) {
  Blocks blocks;
  blocks.of_layer.assign(model.layers.size(), Blocks::none);
  blocks.of_launch.assign(model.profile->launches.size(), Blocks::none);
  std::vector<std::vector<std::int64_t>> shapes;
  for (const auto& layer : model.layers) shapes.push_back(layer.parameters.front().shape);
  const auto repetition = repetition_of(shapes);
  if (2 * repetition.times * repetition.period < shapes.size()) return blocks;  // too little to be blocks
  for (std::size_t i = 0; i < repetition.times * repetition.period; ++i)
    blocks.of_layer[repetition.first + i] = static_cast<std::int32_t>(i / repetition.period);
  blocks.count = static_cast<int>(repetition.times);
  assign_forward(blocks, *model.profile);
  assign_backward(blocks, *model.profile);
  return blocks;
}

}  // namespace

std::string_view block_name(std::string_view layer) {
  std::size_t end = 0;
  for (std::size_t start = 0;;) {
    const auto dot = layer.find('.', start);
    if (dot == std::string_view::npos) return layer.substr(0, end);
    if (is_numbered(layer.substr(start, dot - start))) end = dot;
    start = dot + 1;
  }
}

std::vector<std::int32_t> blocks_of_layers(const std::vector<Layer>& layers) {
  std::vector<std::int32_t> blocks;
  std::map<std::string_view, std::int32_t> known;
  for (const auto& layer : layers) {
    const auto name = block_name(layer.name);
    blocks.push_back(name.empty()
                         ? Blocks::none
                         : known.try_emplace(name, static_cast<std::int32_t>(known.size())).first->second);
  }
  return blocks;
}

Blocks blocks_of(const Model& model) {
  if (model.profile) return by_repetition(model);
  Blocks blocks{.of_layer = blocks_of_layers(model.layers), .of_launch = {}};
  for (const auto block : blocks.of_layer) blocks.count = std::max(blocks.count, block + 1);
  return blocks;
}

}  // namespace gradway
