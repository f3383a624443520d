// SPDX-License-Identifier: Apache-2.0
#include "sim/scenario/pipeline/stages.hpp"

#include <algorithm>
#include <set>

#include "sim/base/contract.hpp"
#include "sim/workload/blocks.hpp"

namespace gradway {
namespace {

/// The block of each layer; in a model with explicit times each layer is a block.
std::vector<std::int32_t> parts_of_layers(const Model& model) {
  auto parts = blocks_of_layers(model.layers);
  if (!model.run && std::ranges::all_of(parts, [](auto part) { return part == Blocks::none; })) {
    for (std::size_t i = 0; i < parts.size(); ++i) parts[i] = static_cast<std::int32_t>(i);
  }
  return parts;
}

int count_of(const std::vector<std::int32_t>& parts) {
  return parts.empty() ? 0 : *std::ranges::max_element(parts) + 1;
}

/// The stage of each unit.
std::vector<int> stages_of_parts(int parts, int stages) {
  std::vector<int> sizes(static_cast<std::size_t>(stages), parts / stages);
  // Remaining units go to the second stage first; the first stage is last but one, the last stage last.
  for (int left = parts % stages, stage = 1 % stages; left > 0; --left) {
    ++sizes[static_cast<std::size_t>(stage)];
    stage = stage + 2 < stages ? stage + 1 : 0;
  }
  std::vector<int> of;
  for (int stage = 0; stage < stages; ++stage)
    of.insert(of.end(), static_cast<std::size_t>(sizes[static_cast<std::size_t>(stage)]), stage);
  return of;
}

}  // namespace

int pipeline_units(const Model& model) {
  return count_of(parts_of_layers(model));
}

std::vector<int> stages_of_layers(const Model& model, int stages) {
  const auto parts = parts_of_layers(model);
  expects(count_of(parts) >= stages, "each stage has a part of the model");
  const auto of_part = stages_of_parts(count_of(parts), stages);
  std::vector<int> of_layer;
  int stage = 0;
  for (const auto part : parts) {
    if (part != Blocks::none) stage = of_part[static_cast<std::size_t>(part)];
    of_layer.push_back(stage);
  }
  return of_layer;
}

std::vector<StageHop> hops_of(const Pipeline& pipeline) {
  std::set<StageHop> hops;
  for (int stage = 0; stage + 1 < pipeline.stages(); ++stage) {
    const auto from = pipeline.rank_of(stage);
    const auto to = pipeline.rank_of(stage + 1);
    if (from == to) continue;
    hops.insert({from, to, false});
    hops.insert({to, from, true});
  }
  return {hops.begin(), hops.end()};
}

ModelShard part_of(const Model& whole, const Pipeline& pipeline, int rank) {
  const auto stages = stages_of_layers(whole, pipeline.stages());
  ModelShard part;
  part.model = whole;
  part.model.layers.clear();
  for (std::size_t layer = 0; layer < stages.size(); ++layer) {
    const bool is_here = pipeline.rank_of(stages[layer]) == rank;
    part.chunk.push_back(is_here ? pipeline.chunk_of(stages[layer]) : ModelShard::none);
    part.place.push_back(is_here ? static_cast<std::int32_t>(part.layers.size()) : ModelShard::none);
    if (!is_here) continue;
    part.layers.push_back(static_cast<std::int32_t>(layer));
    part.model.layers.push_back(whole.layers[layer]);
  }
  return part;
}

Model with_tied_copies(const Model& model, const Pipeline& pipeline) {
  auto copy = model;
  const auto last = pipeline.rank_of(pipeline.stages() - 1);
  const bool trains_all = model.frozen_count() == 0;
  for (auto& layer : copy.layers) {
    if (!layer.tied || last == 0) continue;
    if (trains_all) {
      layer.parameters.push_back(*layer.tied);
    } else {
      layer.frozen.push_back({*layer.tied});
    }
  }
  return copy;
}

StepMemory memory_of_passes(const StepMemory& whole, const ModelShard& part,
                            const std::vector<ChunkPass>& turns) {
  StepMemory memory;
  if (whole.activations.empty()) return memory;
  for (const auto layer : part.layers)
    if (!whole.lasting.empty()) memory.lasting.push_back(whole.lasting[static_cast<std::size_t>(layer)]);
  const auto moments = whole.activations.size();
  const auto chunk_at = [&](std::size_t moment) {
    const auto layer = whole.layers[moment];
    return layer < 0 ? ModelShard::none : part.chunk[static_cast<std::size_t>(layer)];
  };
  // Memory before a chunk's forward pass belongs to others; what the pass adds is its own.
  struct Range {
    std::size_t from = 0;
    std::size_t to = 0;  ///< moments of the forward pass
    Bytes before{};
    Bytes kept{};
  };
  std::vector<Range> ranges(static_cast<std::size_t>(*std::ranges::max_element(part.chunk)) + 1);
  for (std::size_t chunk = 0; chunk < ranges.size(); ++chunk) {
    auto& range = ranges[chunk];
    const auto is_here = [&](std::size_t moment) { return chunk_at(moment) == static_cast<int>(chunk); };
    while (range.from < whole.forward && !is_here(range.from)) ++range.from;
    range.to = range.from;
    while (range.to < whole.forward && is_here(range.to)) ++range.to;
    if (range.from > 0 && range.from < whole.forward) range.before = whole.activations[range.from - 1];
    // Memory that only the last call of the loss holds is freed.
    const auto left = range.to == whole.forward ? whole.after_forward : whole.activations[range.to - 1];
    if (range.to > range.from) range.kept = left - range.before;
  }
  const auto gradients_before = [&](std::size_t to) { return whole.gradients[moments - to - 1]; };
  Bytes under_way{};
  bool has_gone_back = false;
  for (const auto& turn : turns) {
    const auto& range = ranges[static_cast<std::size_t>(turn.chunk)];
    if (turn.pass == Pass::backward || turn.pass == Pass::input_gradients) {
      // The backward pass visits the moments in reverse order.
      for (auto moment = moments - range.to; moment < moments - range.from; ++moment) {
        memory.activations.push_back(under_way - range.kept + whole.activations[moment] - range.before);
        memory.gradients.push_back(whole.gradients[moment] - gradients_before(range.to));
      }
    }
    if (turn.pass == Pass::forward) {
      for (auto moment = range.from; moment < range.to; ++moment) {
        memory.activations.push_back(under_way + whole.activations[moment] - range.before);
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
