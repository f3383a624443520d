// SPDX-License-Identifier: Apache-2.0
#include "sim/plan/rank_passes.hpp"

#include <algorithm>
#include <utility>

#include "sim/compute/optimizer_time.hpp"
#include "sim/plan/cuda_graphs.hpp"

namespace gradway {
namespace {

/// Whether the job needs the blocks of the model, whatever its strategy needs.
bool needs_blocks(const Job& job) {
  return runs_blocks_again(job.recompute) || job.cuda_graphs == CudaGraphs::layers;
}

/// Tasks by number. Tasks with a negative number are left out.
template <class NumberOf>
std::vector<std::vector<ModelTask*>> by_number(std::vector<ModelTask>& tasks, const NumberOf& number_of) {
  std::vector<std::vector<ModelTask*>> numbered;
  for (auto& model_task : tasks) {
    const auto number = number_of(model_task);
    if (number < 0) continue;
    numbered.resize(std::max(numbered.size(), static_cast<std::size_t>(number) + 1));
    numbered[static_cast<std::size_t>(number)].push_back(&model_task);
  }
  return numbered;
}

}  // namespace

std::optional<Seconds> pause_of(const ComputeCosts& costs, const Sync& sync) {
  if (!costs.profile) return std::nullopt;
  return costs.profile->pause + sync.extra_pause();
}

RankPasses::RankPasses(const Scenario& scenario, const ComputeCosts& costs, const Sync& sync,
                       const RankPart* rank_part)
    : scenario_{scenario},
      part_{rank_part},
      rank_{rank_part ? RankScenario{scenario, rank_part->part.model} : RankScenario{scenario}},
      own_blocks_{!rank_part && needs_blocks(scenario.job) && sync.blocks() == nullptr
                      ? std::optional{blocks_of(scenario.model)}
                      : std::nullopt},
      blocks_{rank_part     ? rank_part->blocks
              : own_blocks_ ? &*own_blocks_
                            : nullptr},
      model_{rank_part ? *rank_part->tasks : own_tasks_},
      turns_{passes_of_rank(pipeline_of(scenario.job.layout), rank_part ? rank_part->rank : 0,
                            scenario.job.accumulate)} {
  if (model_.backward.empty()) make_tasks(costs, sync);
  find_passes();
  find_tasks();
  if (rank_part) {
    find_blocks_of_part();
    optimizer_ = optimizer_tasks(rank_, costs, optimizer_time(rank_));
  } else {
    optimizer_ = std::move(model_.optimizer);
  }
}

void RankPasses::make_tasks(const ComputeCosts& costs, const Sync& sync) {
  const auto whole = part_ ? RankScenario{scenario_, *part_->whole} : rank_;
  model_ = model_tasks(whole, costs, pause_of(costs, sync), blocks_ ? blocks_ : sync.blocks());
  // torch.compile's graphs end where FSDP gathers the next block.
  const bool by_block = scenario_.job.cuda_graphs == CudaGraphs::layers || sync.blocks() != nullptr;
  if (captures_passes(scenario_.job.cuda_graphs)) capture_layers(model_, whole, costs, by_block);
}

void RankPasses::find_passes() {
  const auto chunks = static_cast<std::size_t>(scenario_.job.layout.chunks);
  std::vector<std::optional<std::size_t>> last(chunks);
  passes_.resize(turns_.size());
  for (std::size_t i = 0; i < turns_.size(); ++i) {
    if (turns_[i].pass == Pass::forward || turns_[i].pass == Pass::input_gradients) continue;
    auto& before = last[static_cast<std::size_t>(turns_[i].chunk)];
    passes_[i].adds_to_gradients = before.has_value();
    before = i;
  }
  for (const auto turn : last)
    if (turn) passes_[*turn].is_last = true;
}

void RankPasses::find_tasks() {
  const auto chunks = static_cast<std::size_t>(scenario_.job.layout.chunks);
  const auto chunk = [&](const ModelTask& model_task) { return chunk_of(model_task); };
  const auto block = [](const ModelTask& model_task) { return model_task.block; };
  forward_ = by_number(model_.forward, chunk);
  backward_ = by_number(model_.backward, chunk);
  recomputed_ = by_number(
      scenario_.job.recompute == Recompute::selective_op ? model_.recomputed : model_.forward, block);
  for (auto* tasks : {&forward_, &backward_}) tasks->resize(chunks);
  if (is_first_stage()) {
    for (const auto* model_task : forward_.front())
      if (std::holds_alternative<Copy>(model_task->task.work)) batch_.push_back(model_task->task);
  }
  recomputed_.resize(std::max(recomputed_.size(), by_number(model_.backward, block).size()));
  backward_launches_.assign(recomputed_.size(), 0);
  for (const auto& task : model_.backward)
    if (task.block != Blocks::none)
      backward_launches_[static_cast<std::size_t>(task.block)] += task.task.launches;
  // Gradients of later chunks come first.
  first_gradient_.assign(chunks, 0);
  for (const auto& model_task : model_.backward)
    for (int earlier = 0; earlier < chunk_of(model_task); ++earlier)
      first_gradient_[static_cast<std::size_t>(earlier)] += model_task.gradients;
}

int RankPasses::chunk_of(const ModelTask& model_task) const {
  if (!part_) return 0;
  if (model_task.task.layer == Task::none)
    return part_->rank == 0 ? 0 : ModelShard::none;  // the input belongs to the first rank
  return part_->part.chunk[static_cast<std::size_t>(model_task.task.layer)];
}

std::int32_t RankPasses::layer_of_rank(std::int32_t layer) const {
  return !part_ || layer == Task::none ? layer : part_->part.place[static_cast<std::size_t>(layer)];
}

Module RankPasses::of_rank(Module module) const {
  if (part_ && module.kind == Module::Kind::block)
    module.index = block_of_rank_[static_cast<std::size_t>(module.index)];
  return module;
}

void RankPasses::find_blocks_of_part() {
  block_of_rank_.assign(static_cast<std::size_t>(blocks_->count), Blocks::none);
  const auto rank_blocks = blocks_of(rank_.model).of_layer;
  for (std::size_t i = 0; i < rank_blocks.size(); ++i) {
    const auto block = blocks_->of_layer[static_cast<std::size_t>(part_->part.layers[i])];
    if (block != Blocks::none) block_of_rank_[static_cast<std::size_t>(block)] = rank_blocks[i];
  }
}

}  // namespace gradway
