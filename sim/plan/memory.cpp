// SPDX-License-Identifier: Apache-2.0
#include "sim/plan/memory.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include <fmt/format.h>

#include "sim/compute/optimizer_share.hpp"
#include "sim/compute/optimizer_time.hpp"
#include "sim/scenario/shared_by_loaders.hpp"
#include "sim/scenario/strategy_facts.hpp"
#include "sim/workload/blocks.hpp"
#include "sim/workload/profile.hpp"

namespace gradway {
namespace {

// CUDA context with the kernels of PyTorch, cuBLAS and attention: own measurement, 2026-11-30, two H200,
// PyTorch 2.11, CUDA 13.0. A step of GPT-2 and of Llama 3.2 1B under FSDP2 and DDP takes 1,608 to 1,612 MiB
// beside what PyTorch reserves, of which NCCL has 840. A context that has run one kernel has 621.
constexpr auto cuda_context = 768_MiB;
// Fragments that PyTorch's allocator cannot release where memory ends: a rule of thumb that we did not
// measure.
constexpr double allocator_slack = 0.05;

/// Workspaces of cuBLAS and cuBLASLt: of PyTorch one each for the threads of the forward and the backward
/// pass, of Transformer Engine one for its linear layers and one for each of the four streams of grouped
/// experts.
/// @source aten/src/ATen/cuda/CublasHandlePool.cpp, PyTorch 2.11, and docs.pytorch.org, "Reproducibility"
/// (8 buffers of 4,096 KiB for deterministic algorithms); get_workspace and
/// get_multi_stream_cublas_workspace in transformer_engine/pytorch/module/base.py, 2.8
Bytes cublas_workspaces(const RankScenario& scenario) {
  constexpr int hopper = 90;
  constexpr int threads = 2;
  constexpr int streams = 4;
  const auto& gpu = scenario.platform.gpu_models.front();
  if (gpu.ideal) return {};
  const bool is_large = gpu.compute_capability >= hopper;
  const auto of_pytorch = threads * (is_large || scenario.job.deterministic ? 32_MiB : 8320_KiB);
  if (!has_megatron_modules(scenario.job)) return of_pytorch;
  const bool has_experts = std::ranges::any_of(scenario.model.layers, &Layer::is_of_experts);
  return of_pytorch + (has_experts ? 1 + streams : 1) * (is_large ? 32_MiB : 4_MiB);
}

/// Size of all trained parameters in the job's format, or in the formats of a profile's gradients.
Bytes parameters_of(const RankScenario& scenario) {
  const auto& model = scenario.model;
  if (!model.profile) return Bytes{state_bytes(scenario) * static_cast<double>(model.parameter_count())};
  Bytes sum{};
  for (const auto& gradient : model.profile->gradients)
    sum += Bytes{static_cast<double>(elements_of(gradient.shape)) * gradient.element_bytes};
  return sum;
}

/// Optimizer memory for the parameters that a GPU steps.
OptimizerMemory optimizer_memory_of(const RankScenario& scenario, const SyncMemory& sync) {
  const auto count = static_cast<double>(scenario.model.parameter_count());
  const auto stepped = sync.parameters ? Bytes{state_bytes(scenario) * count} : parameters_of(scenario);
  return optimizer_memory(scenario.model, scenario.job.optimizer, sync.optimizer_share * stepped,
                          sync.optimizer_share);
}

/// Memory that is in use during the whole step.
MemoryUse permanent_memory(const RankScenario& scenario, const SyncMemory& sync) {
  const auto& job = scenario.job;
  MemoryUse use;
  use.parameters =
      sync.parameters.value_or(parameters_of(scenario)) + sync.frozen.value_or(scenario.model.frozen_size());
  use.parameters += sync.tables;
  use.optimizer_state = optimizer_memory_of(scenario, sync).state + sync.table_states;
  use.buckets = sync.buckets + sync.exchanged_rows;
  use.comm_hook = sync.kept;
  const int of_input = delivers_to_gpu(job.input) ? job.input.prefetch_factor : job.input.prefetch ? 2 : 1;
  use.input = (scenario.model.input_per_sample + decoded_on_gpu(job.input)) * job.batch_per_gpu * of_input +
              job.input.background_copy;
  use.workspace = cublas_workspaces(scenario);
  use.context = scenario.platform.gpu_models.front().ideal ? 0_B : cuda_context;
  return use;
}

/// Gradients of parameters over a step.
struct GradientLife {
  Bytes all{};
  bool from_start =
      false;  ///< all exist from the start: of the previous micro-step or in a strategy's buckets
  bool through_forward = false;  ///< they live through the next forward pass
  Bytes of_others{};             ///< part of `all` that other streams than that of the kernels have allocated
};

/// Calls `visit(moment, use)` for each moment of a micro-step. Autograd keeps and frees activations, and the
/// backward pass makes gradients. `use.by_stream` is what the stream of the kernels has allocated.
template <class Visit>
void visit_micro_step(const StepMemory& step, const Sync& sync, const MemoryUse& always,
                      const GradientLife& gradients, const Visit& visit) {
  for (std::size_t i = 0; i < step.activations.size(); ++i) {
    auto use = always;
    use.activations = always.activations + step.activations[i];
    const bool is_forward = i < step.forward;
    const bool all_there = gradients.from_start || (is_forward && gradients.through_forward);
    use.gradients = all_there ? gradients.all : std::min(gradients.all, step.gradients[i]);
    const auto ready = step.gradients.back() > 0_B ? step.gradients[i] / step.gradients.back() : 0;
    const bool is_loss = i + 1 == step.forward || (!is_forward && ready == 0);
    const auto held = sync.held({is_forward, is_loss, ready});
    auto of_others = all_there ? gradients.of_others : 0_B;
    if (held) {
      of_others = std::max(held->of_others, of_others);
      use.gradients = std::max(held->gradients, all_there ? gradients.all : 0_B);
      use.gathered = held->gathered;
    }
    use.by_stream = use.allocated() - of_others;
    visit(i, use);
  }
}

/// The peak of a micro-step.
MemoryUse peak_of_micro_step(const StepMemory& step, const Sync& sync, const MemoryUse& always,
                             const GradientLife& gradients) {
  auto peak = always;
  if (step.activations.empty()) {
    peak.gradients = gradients.all;
    if (const auto held = sync.held({})) peak.gathered = held->gathered;
  }
  auto by_stream = peak.allocated();
  visit_micro_step(step, sync, always, gradients, [&](std::size_t, const MemoryUse& use) {
    by_stream = std::max(by_stream, use.by_stream);
    if (use.allocated() > peak.allocated()) peak = use;
  });
  peak.by_stream = by_stream;
  return peak;
}

/// Adds the memory pools of CUDA graphs, which nothing else may use: the peak of the passes stays allocated
/// in the optimizer's step, and with graphs of blocks until the step ends.
/// @source docs.pytorch.org/docs/2.11/notes/cuda.html, "Graph memory management"; measured on an H100,
/// 2026-11-25: GPTs of 12 and 24 blocks, 2 to 8 samples, the pool of forward and backward pass is 1.09
/// to 1.15 times the transient memory of the eager step
/// @param peak of a micro-step
void add_graph_pools(MemoryUse& later, const MemoryUse& peak, const StepMemory& step,
                     const RankScenario& scenario) {
  const auto graphs = scenario.job.cuda_graphs;
  if (graphs == CudaGraphs::none) return;
  if (graphs == CudaGraphs::step || graphs == CudaGraphs::reduce_overhead) {
    const auto pool = peak.activations + peak.gradients;
    later.activations = std::max(later.activations, pool - std::min(pool, later.gradients));
    return;
  }
  Bytes of_blocks{};
  for (std::size_t i = 0; i < step.forward && i < step.layers.size(); ++i) {
    const auto layer = static_cast<std::size_t>(step.layers[i]);
    if (!block_name(scenario.model.layers[layer].name).empty())
      of_blocks = std::max(of_blocks, step.activations[i]);
  }
  later.activations += of_blocks;
}

/// Gradients of the blocks' parameters are outputs of their graphs, which autograd copies.
/// @source torch/cuda/graphs.py, make_graphed_callables (static_grad_inputs)
Bytes static_gradients(const RankScenario& scenario) {
  double count = 0;
  if (scenario.job.cuda_graphs != CudaGraphs::layers || scenario.model.profile) return {};
  for (const auto& layer : scenario.model.layers)
    if (!block_name(layer.name).empty()) count += static_cast<double>(layer.parameter_count());
  return Bytes{state_bytes(scenario) * count};
}

/// Whether gradients live through the next forward pass. A profile records it.
bool keeps_gradients(const RankScenario& scenario) {
  const auto& profile = scenario.model.profile;
  return scenario.job.zero_grad == ZeroGrad::before_backward ||
         (profile && profile->keeps_gradients.value_or(false));
}

/// Gradients that exist together. An optimizer in the backward pass frees each one after its update, whose
/// temporaries are those of one parameter. @source torchtune, training/memory.py
/// (OptimizerInBackwardWrapper)
Bytes gradients_of(const RankScenario& scenario) {
  if (!scenario.job.optimizer_in_backward) return parameters_of(scenario);
  const auto largest = Bytes{state_bytes(scenario) * largest_parameter(scenario.model)};
  return largest + optimizer_memory(scenario.model, scenario.job.optimizer, largest, 1).transient;
}

/// The parts of a step by which its memory differs.
struct StepParts {
  SyncMemory sync{};
  MemoryUse always{};
  GradientLife gradients{};
  MemoryUse micro_step{};  ///< at its peak
  MemoryUse backward_ends{};
  MemoryUse optimizer{};
};

StepParts parts_of_step(const RankScenario& scenario, const StepMemory& step, const Sync& sync) {
  StepParts parts;
  parts.sync = sync.memory();
  auto& always = parts.always;
  always = permanent_memory(scenario, parts.sync);
  const bool shards = parts.sync.parameters.has_value();
  parts.gradients = {.all = parts.sync.holds_gradients ? 0_B
                            : shards                   ? parts.sync.gradients
                                                       : gradients_of(scenario),
                     .from_start = scenario.job.accumulate > 1,
                     .through_forward = keeps_gradients(scenario),
                     .of_others = parts.sync.kept_by_others};

  always.activations = std::accumulate(step.lasting.begin(), step.lasting.end(), Bytes{});
  if (!shards) always.activations += static_gradients(scenario);

  parts.backward_ends = always;
  parts.backward_ends.gradients = parts.gradients.all;
  parts.backward_ends.comm_hook += parts.sync.after_backward;

  parts.optimizer = always;
  parts.optimizer.gradients = parts.gradients.all;
  const auto transient = optimizer_memory_of(scenario, parts.sync).transient;
  if (!scenario.job.optimizer_in_backward) parts.optimizer.optimizer_state += transient;

  parts.micro_step = peak_of_micro_step(step, sync, always, parts.gradients);
  add_graph_pools(parts.backward_ends, parts.micro_step, step, scenario);
  add_graph_pools(parts.optimizer, parts.micro_step, step, scenario);
  return parts;
}

/// Sets what PyTorch allocates in the parts of a run. A checkpoint is read into the tensors of the model and
/// the optimizer, shard by shard or from host memory, and written from them, also by asynchronous copies:
/// torch.distributed.checkpoint, Megatron-Core's dist_checkpointing, DeepSpeed's and Hugging Face's
/// checkpoints keep no other copy on the GPU. Without one, the first step makes the optimizer's states.
/// @source dcp.load and _offload_state_dict_to_cpu of torch.distributed.checkpoint, PyTorch 2.11;
/// torch/optim/adam.py (_init_group); initialize_optimizer_states in deepspeed/runtime/zero/stage_1_and_2.py
void set_parts_of_run(MemoryUse& use, const StepParts& parts, const RankScenario& scenario,
                      const StepMemory& step, const Sync& sync) {
  const auto& job = scenario.job;
  const auto& always = parts.always;
  MemoryUse between_steps{.parameters = always.parameters,
                          .gradients = keeps_gradients(scenario) ? parts.gradients.all : 0_B,
                          .optimizer_state = always.optimizer_state,
                          .buckets = always.buckets,
                          .comm_hook = always.comm_hook,
                          .workspace = always.workspace};
  const auto later_states =
      facts_of(job.strategy).makes_states_early ? 0_B : always.optimizer_state - parts.sync.table_states;
  const auto passes = std::max(parts.micro_step.allocated(), parts.backward_ends.allocated());
  use.in(RunPart::loading) = std::max(parts.sync.loading, always.parameters + always.optimizer_state);
  use.in(RunPart::first_step) = std::max(passes - later_states, parts.optimizer.allocated());
  // The first buckets are gone when the optimizer steps.
  if (parts.sync.first_buckets > 0_B)
    use.in(RunPart::rebuilt_buckets) = parts.micro_step.allocated() + parts.sync.first_buckets;
  use.in(RunPart::step) = use.allocated();
  use.in(RunPart::checkpoint) = between_steps.allocated() + parts.sync.saving;
  if (step.evaluated.empty()) return;
  auto evaluation = between_steps;
  evaluation.input = (scenario.model.input_per_sample + decoded_on_gpu(job.input)) * job.eval_batch;
  evaluation.activations = always.activations + *std::ranges::max_element(step.evaluated);
  if (const auto held = sync.held({})) evaluation.gathered = held->gathered;
  use.in(RunPart::evaluation) = evaluation.allocated();
}

}  // namespace

MemoryUse memory_use(const RankScenario& scenario, const StepMemory& step, const Sync& sync) {
  const auto parts = parts_of_step(scenario, step, sync);
  const std::array moments{parts.micro_step, parts.backward_ends, parts.optimizer};
  auto peak = *std::ranges::max_element(moments, {}, &MemoryUse::allocated);
  const auto& [micro_step, ends, optimizer] = moments;
  const auto of_kernels = std::max({micro_step.by_stream, ends.allocated() - parts.sync.kept_by_others,
                                    optimizer.allocated() - parts.sync.kept_by_others});
  peak.by_stream = std::max(peak.allocated(), of_kernels + parts.sync.of_others);
  peak.slack = allocator_slack * peak.allocated();
  set_parts_of_run(peak, parts, scenario, step, sync);
  return peak;
}

std::vector<MemoryMoment> memory_over_step(const RankScenario& scenario, const StepMemory& step,
                                           const Sync& sync) {
  std::vector<MemoryMoment> moments;
  if (step.activations.empty()) return moments;
  const auto parts = parts_of_step(scenario, step, sync);
  visit_micro_step(step, sync, parts.always, parts.gradients, [&](std::size_t i, const MemoryUse& use) {
    const auto layer = i < step.layers.size() ? step.layers[i] : Task::none;
    moments.push_back({i < step.forward ? Phase::forward : Phase::backward, layer, use});
  });
  moments.push_back({Phase::backward, Task::none, parts.backward_ends});
  moments.push_back({Phase::optimizer, Task::none, parts.optimizer});
  return moments;
}

}  // namespace gradway
