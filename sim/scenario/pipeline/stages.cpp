// SPDX-License-Identifier: Apache-2.0
#include "sim/scenario/pipeline/stages.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "sim/base/contract.hpp"
#include "sim/workload/blocks.hpp"

namespace gradway {
namespace {

/// The block of each layer; in a model with explicit times each layer is a block.
std::vector<std::int32_t> parts_of_layers(const Model& model) {
  auto blocks = blocks_of_layers(model.layers);
  if (!model.run && std::ranges::all_of(blocks, [](auto block) { return block == Blocks::none; })) {
    for (std::size_t i = 0; i < blocks.size(); ++i) blocks[i] = static_cast<std::int32_t>(i);
  }
  return blocks;
}

int count_of(const std::vector<std::int32_t>& blocks) {
  return blocks.empty() ? 0 : *std::ranges::max_element(blocks) + 1;
}

/// By stage: number of blocks, as even as possible.
std::vector<int> even_stages(int blocks, int stages) {
  std::vector<int> sizes(static_cast<std::size_t>(stages), blocks / stages);
  // Remaining units go to the second stage first; the first stage is last but one, the last stage last.
  for (int remaining = blocks % stages, stage = 1 % stages; remaining > 0; --remaining) {
    ++sizes[static_cast<std::size_t>(stage)];
    stage = stage + 2 < stages ? stage + 1 : 0;
  }
  return sizes;
}

}  // namespace

int pipeline_units(const Model& model) {
  return count_of(parts_of_layers(model));
}

std::vector<int> stages_of_layers(const Model& model, const Pipeline& pipeline) {
  const auto blocks = parts_of_layers(model);
  const auto count = count_of(blocks);
  expects(!pipeline.blocks.empty() || count >= pipeline.stages(), "each stage has a part of the model");
  const auto sizes = pipeline.blocks.empty() ? even_stages(count, pipeline.stages()) : pipeline.blocks;
  std::vector<int> of_block;
  for (int stage = 0; stage < pipeline.stages(); ++stage)
    of_block.insert(of_block.end(), static_cast<std::size_t>(sizes[static_cast<std::size_t>(stage)]), stage);
  expects(std::ssize(of_block) == count, "the stages have all blocks");
  std::vector<int> of_layer;
  int stage = 0;
  int left = count;  // blocks that have not ended yet
  for (const auto block : blocks) {
    if (block != Blocks::none) stage = of_block[static_cast<std::size_t>(block)];
    if (block != Blocks::none) left = count - 1 - block;
    const bool is_after_all = block == Blocks::none && left == 0;
    of_layer.push_back(is_after_all ? pipeline.stages() - 1 : stage);
  }
  return of_layer;
}

std::vector<StageHop> hops_of(const Pipeline& pipeline) {
  std::set<StageHop> hops;
  for (int stage = 0; stage + 1 < pipeline.stages(); ++stage) {
    const auto sender = pipeline.rank_of(stage);
    const auto receiver = pipeline.rank_of(stage + 1);
    if (sender == receiver) continue;
    hops.insert({sender, receiver, false});
    hops.insert({receiver, sender, true});
  }
  return {hops.begin(), hops.end()};
}

StagedModel::StagedModel(Model model, Pipeline pipeline) : pipeline_{std::move(pipeline)} {
  auto layers = std::exchange(model.layers, {});
  without_layers_ = model;
  model_ = std::move(model);
  model_.layers = std::move(layers);
  stages_ = stages_of_layers(model_, pipeline_);
}

ModelShard StagedModel::part_of(int rank) const {
  ModelShard shard;
  shard.model = without_layers_;
  for (std::size_t layer = 0; layer < stages_.size(); ++layer) {
    const bool is_here = pipeline_.rank_of(stages_[layer]) == rank;
    shard.chunk.push_back(is_here ? pipeline_.chunk_of(stages_[layer]) : ModelShard::none);
    shard.place.push_back(is_here ? static_cast<std::int32_t>(shard.layers.size()) : ModelShard::none);
    if (!is_here) continue;
    shard.layers.push_back(static_cast<std::int32_t>(layer));
    shard.model.layers.push_back(model_.layers[layer]);
  }
  return shard;
}

Model with_tied_copies(Model model, const Pipeline& pipeline) {
  const auto last = pipeline.rank_of(pipeline.stages() - 1);
  const bool trains_all = model.frozen_count() == 0;
  for (auto& layer : model.layers) {
    if (!layer.tied || last == 0) continue;
    if (trains_all) {
      layer.parameters.push_back(*layer.tied);
    } else {
      layer.frozen.push_back({*layer.tied});
    }
  }
  return model;
}

StepMemory memory_of_passes(const StepMemory& whole_memory, const ModelShard& shard,
                            const std::vector<ChunkPass>& turns, Framework framework) {
  StepMemory memory;
  if (whole_memory.activations.empty()) return memory;
  for (const auto layer : shard.layers)
    if (!whole_memory.lasting.empty())
      memory.lasting.push_back(whole_memory.lasting[static_cast<std::size_t>(layer)]);
  const auto moments = whole_memory.activations.size();
  const auto chunk_at = [&](std::size_t moment) {
    const auto layer = whole_memory.layers[moment];
    return layer < 0 ? ModelShard::none : shard.chunk[static_cast<std::size_t>(layer)];
  };
  // What others keep for their backward passes is theirs; a chunk's input was received and is its own.
  struct Range {
    std::size_t first = 0;
    std::size_t end = 0;  ///< moments of the forward pass
    Bytes before{};
    Bytes kept{};
  };
  std::vector<Range> ranges(static_cast<std::size_t>(*std::ranges::max_element(shard.chunk)) + 1);
  for (std::size_t chunk = 0; chunk < ranges.size(); ++chunk) {
    auto& range = ranges[chunk];
    const auto is_here = [&](std::size_t moment) { return chunk_at(moment) == static_cast<int>(chunk); };
    while (range.first < whole_memory.forward && !is_here(range.first)) ++range.first;
    range.end = range.first;
    while (range.end < whole_memory.forward && is_here(range.end)) ++range.end;
    if (range.first > 0 && range.first < whole_memory.forward)
      range.before = whole_memory.kept[range.first - 1];
    if (range.end == range.first) continue;
    range.kept = whole_memory.kept[range.end - 1] - range.before;
    if (framework != Framework::megatron) range.kept += whole_memory.passed_on[range.end - 1];
  }
  const auto gradients_before = [&](std::size_t end) { return whole_memory.gradients[moments - end - 1]; };
  for (std::size_t moment = 0; moment < whole_memory.evaluated.size(); ++moment)
    if (chunk_at(moment) != ModelShard::none) memory.evaluated.push_back(whole_memory.evaluated[moment]);
  Bytes under_way{};
  bool has_gone_back = false;
  for (const auto& turn : turns) {
    const auto& range = ranges[static_cast<std::size_t>(turn.chunk)];
    if (turn.pass == Pass::backward || turn.pass == Pass::input_gradients) {
      // The backward pass visits the moments in reverse order.
      for (auto moment = moments - range.end; moment < moments - range.first; ++moment) {
        memory.activations.push_back(under_way - range.kept + whole_memory.activations[moment] -
                                     range.before);
        memory.gradients.push_back(whole_memory.gradients[moment] - gradients_before(range.end));
      }
    }
    if (turn.pass == Pass::forward) {
      for (auto moment = range.first; moment < range.end; ++moment) {
        memory.activations.push_back(under_way + whole_memory.activations[moment] - range.before);
        memory.gradients.push_back({});
      }
      under_way += range.kept;
    }
    const bool frees = turn.pass == Pass::backward || turn.pass == Pass::weight_gradients;
    if (frees) under_way -= range.kept;
    has_gone_back = has_gone_back || turn.pass != Pass::forward;
    if (!has_gone_back) memory.forward = memory.activations.size();
  }
  return memory;
}

}  // namespace gradway
