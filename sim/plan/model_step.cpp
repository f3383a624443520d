// SPDX-License-Identifier: Apache-2.0
#include "sim/plan/model_step.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "sim/compute/optimizer_time.hpp"
#include "sim/cost/framework_cost.hpp"
#include "sim/plan/batch_norms.hpp"
#include "sim/plan/clipping.hpp"
#include "sim/plan/cuda_graphs.hpp"
#include "sim/plan/host_reads.hpp"
#include "sim/plan/input/input_copies.hpp"
#include "sim/plan/memory.hpp"
#include "sim/plan/pass_tasks.hpp"
#include "sim/plan/pipeline/exchanges.hpp"
#include "sim/plan/rank_passes.hpp"
#include "sim/plan/step_gradients.hpp"

namespace gradway {
namespace {

/// Position of a task in the model.
struct ModulePosition {
  std::int32_t block = Blocks::none;
  std::int32_t layer = Task::none;

  /// Moves to the next task's position: calls `leave` for modules that end and `enter` for modules that
  /// begin.
  template <class Leave, class Enter>
  void go_to(ModulePosition next, const Leave& leave, const Enter& enter) {
    const bool other_block = next.block != block;
    const bool other_layer = other_block || next.layer != layer;
    if (other_layer && layer != Task::none) leave(Module{Module::Kind::layer, layer});
    if (other_block && block != Blocks::none) leave(Module{Module::Kind::block, block});
    if (other_block && next.block != Blocks::none) enter(Module{Module::Kind::block, next.block});
    if (other_layer && next.layer != Task::none) enter(Module{Module::Kind::layer, next.layer});
    *this = next;
  }
};

/// Builds the program of a step. Its functions are in the order of the step.
class StepBuilder {
 public:
  StepBuilder(const Scenario& scenario, const ComputeCosts& costs, Sync& sync, const RankPart* rank_part)
      : scenario_{scenario},
        costs_{costs},
        sync_{sync},
        part_{rank_part},
        passes_{scenario, costs, sync, rank_part},
        program_{.name = is_pipeline() ? fmt::format("stage {}", rank_part->rank) : "rank",
                 .streams = streams_of_a_rank()},
        tasks_{program_, scenario.platform.gpu_models.front(), pause_of(costs, sync), costs.launch,
               costs.slower_host},
        copies_{scenario, tasks_},
        scales_stream_{exchanges_fp8_scales(scenario.job) ? tasks_.add_stream("scales") : StreamId{0}},
        model_{scenario.job.layout, rank_part, tasks_},
        gradients_{scenario.model, costs, passes_.rank(), rank_part, sync, tasks_, model_} {
    for (const auto& layer : passes_.rank().model.layers) scaled_layers_ += layer.takes_fp8 ? 1 : 0;
    if (rank_part) exchanges_.emplace(scenario.job.layout, scenario.job.framework, *rank_part, tasks_);
    if (!copies_activations()) return;
    to_host_ = tasks_.add_stream("activations to the host");
    from_host_ = tasks_.add_stream("activations from the host");
  }

  Program run(std::vector<MemoryMoment>* memory) {
    const auto& turns = passes_.turns();
    const auto& rank = passes_.rank();
    if (!part_) program_.tasks.reserve(task_count());
    copies_.begin_step();
    sync_.before_step(tasks_);
    for (std::size_t i = 0; i < turns.size();) {
      const auto end = i + (turns[i].overlaps_next ? 2 : 1);
      for (auto turn = i; turn < end; ++turn) receive(turn);
      for (auto turn = i; turn < end; ++turn) pass(turn);
      for (; i < end; ++i) send_on(i);
    }
    sync_.before_optimizer(tasks_);
    if (exchanges_) {
      gradients_.reduce_replicated();
      exchanges_->reduce_tied();
    }
    gradients_.average_micro_batches();
    const auto before_optimizer = tasks_.size();
    if (scenario_.job.clip_grad_norm) clip_gradients(tasks_, rank, sync_);
    read_values(tasks_, rank, HostReadsAfter::backward);
    for (auto& model_task : passes_.optimizer()) tasks_.add(std::move(model_task.task));
    sync_.after_optimizer(tasks_);
    read_values(tasks_, rank, HostReadsAfter::optimizer);
    const auto& job = scenario_.job;
    // Megatron-Core's graph of a full iteration excludes the optimizer.
    if (job.cuda_graphs == CudaGraphs::step)
      capture_step(program_, has_megatron_modules(job) ? before_optimizer : tasks_.size(), rank, costs_);
    program_.samples =
        static_cast<double>(job.batch_per_gpu) * job.accumulate / job.layout.model_parallel_ranks();
    const auto passes =
        part_ ? memory_of_passes(costs_.memory, part_->part, turns, job.framework) : costs_.memory;
    program_.memory = memory_use(rank, passes, sync_);
    if (memory) *memory = memory_over_step(rank, passes, sync_);
    program_.units = sync_.take_units();
    if (part_) renumber_unit_layers();
    return std::move(program_);
  }

 private:
  bool is_pipeline() const { return scenario_.job.layout.pipeline > 1; }

  /// About as many tasks as the program gets, if no kernels are merged.
  std::size_t task_count() {
    std::size_t count = 0;
    for (const auto& turn : passes_.turns())
      count +=
          (turn.pass == Pass::forward ? passes_.forward(turn.chunk) : passes_.backward(turn.chunk)).size();
    return count + count / 4;
  }

  void receive(std::size_t turn) {
    if (!exchanges_) return;
    if (const auto received = exchanges_->before(passes_.turns(), turn)) model_.wait_for(*received);
  }

  void pass(std::size_t turn) {
    const auto& chunk_pass = passes_.turns()[turn];
    const auto first = program_.tasks.size();
    if (chunk_pass.pass == Pass::forward) {
      forward(chunk_pass);
    } else {
      backward(chunk_pass, passes_.backward_pass(turn));
    }
    if (is_pipeline())
      program_.passes.push_back(
          {chunk_pass.pass, chunk_pass.micro_batch, chunk_pass.chunk, first, program_.tasks.size()});
    model_.end_pass();
    if (chunk_pass.pass != Pass::weight_gradients) share_scales(chunk_pass.pass == Pass::forward);
  }

  /// Delayed scaling: after each pass the maxima of its tensors are concatenated, reduced over all ranks of a
  /// stage, and converted into scales by one kernel. In a layer's forward pass the input, the weight and the
  /// output have a scale, in its backward pass two gradients. The next pass waits for the scales.
  /// @source transformer_engine/pytorch/fp8.py, reduce_and_update_fp8_tensors
  void share_scales(bool is_forward) {
    if (!exchanges_fp8_scales(scenario_.job) || scaled_layers_ == 0) return;
    const auto phase = is_forward ? Phase::forward : Phase::backward;
    auto last = tasks_.kernel("scales", phase, tasks_.tiny(2, smallest_kernel), 2);
    model_.set_computed(last);
    if (scenario_.job.gpus == scenario_.job.layout.pipeline) return;
    const Bytes size{fp32_bytes * (is_forward ? 3 : 2) * scaled_layers_ / scenario_.job.layout.chunks};
    last = tasks_.call({CollectiveKind::all_reduce, size, scales_slot()}, scales_stream_,
                       "all-reduce of greatest values", tasks_.cpu(ddp_cpu.all_reduce), last);
    model_.wait_for(last);
  }

  Slot scales_slot() const {
    if (part_) return part_->scales;
    return Slot{static_cast<std::uint32_t>(std::max<std::size_t>(1, sync_.groups().size()))};
  }

  void send_on(std::size_t turn) {
    if (exchanges_) exchanges_->after(passes_.turns(), turn, model_.results());
  }

  void renumber_unit_layers() {
    const auto& layers = part_->part.layers;
    for (auto& unit : program_.units)
      for (auto& gradient : unit.gradients) gradient.layer = layers[static_cast<std::size_t>(gradient.layer)];
  }

  void forward(const ChunkPass& turn) {
    const bool is_last = turn.micro_batch + 1 == scenario_.job.accumulate;
    if (turn.chunk == 0) {
      if (passes_.is_first_stage())
        for (const auto copied : copies_.before_forward(turn.micro_batch, passes_.batch()))
          model_.wait_for(copied);
      sync_.before_micro_step(tasks_, {turn.micro_batch, is_last});
    }
    ModulePosition place;
    bool begun = turn.chunk > 0;
    const auto leave = [&](Module module) {
      if (module.kind == Module::Kind::block && copies_activations()) offload(module.index);
      sync_.after_forward(tasks_, passes_.of_rank(module));
    };
    for (auto* model_task : passes_.forward(turn.chunk)) {
      if (model_task->is_once && turn.micro_batch > 0) continue;
      const bool is_copy = std::holds_alternative<Copy>(model_task->task.work);
      if (is_copy && copies_.prefetches()) continue;
      if (!begun && !is_copy) {
        copies_.before_kernels(turn.micro_batch);
        sync_.before_forward(tasks_, Module{});
        begun = true;
      }
      place.go_to({model_task->block, passes_.layer_of_rank(model_task->task.layer)}, leave,
                  [&](Module module) {
                    if (module.kind == Module::Kind::block && scenario_.job.recompute_offload)
                      move_input(module.index, Place::host);
                    sync_.before_forward(tasks_, passes_.of_rank(module));
                    if (const auto* norm = synchronised(module))
                      sync_statistics(tasks_, *norm, scenario_.job.gpus);
                  });
      model_.add(*model_task, !part_ && is_last && !runs_blocks_again(scenario_.job.recompute));
    }
    place.go_to({}, leave, [](Module) {});
    if (turn.chunk + 1 == scenario_.job.layout.chunks) sync_.after_forward(tasks_, Module{});
    if (turn.chunk == 0) copies_.after_forward(turn.micro_batch, passes_.batch());
    if (is_last) read_values(tasks_, passes_.rank(), HostReadsAfter::forward);
  }

  /// The BatchNorm that exchanges statistics; null: the module is none.
  const Layer* synchronised(Module module) const {
    if (!scenario_.job.sync_batch_norm || module.kind != Module::Kind::layer) return nullptr;
    const auto& layer = passes_.rank().model.layers[static_cast<std::size_t>(module.index)];
    return layer.role == LayerRole::batch_norm ? &layer : nullptr;
  }

  void backward(const ChunkPass& turn, BackwardPass pass) {
    ModulePosition place;
    auto next = passes_.first_gradient(turn.chunk);
    model_.begin_backward_pass();
    if (is_pipeline()) sync_.before_backward_pass(tasks_, turn.pass != Pass::input_gradients);
    if (turn.chunk + 1 == scenario_.job.layout.chunks) sync_.before_backward(tasks_, Module{});
    const auto leave = [&](Module module) { sync_.after_backward(tasks_, passes_.of_rank(module)); };
    const auto enter = [&](Module module) {
      sync_.before_backward(tasks_, passes_.of_rank(module));
      if (module.kind == Module::Kind::block && copies_activations()) load(module.index);
      const bool recomputes =
          runs_blocks_again(scenario_.job.recompute) && turn.pass != Pass::weight_gradients;
      if (recomputes && module.kind == Module::Kind::block) recompute(module.index);
      if (const auto* norm = synchronised(module)) sync_gradient_sums(tasks_, *norm);
    };
    for (auto* task : passes_.backward(turn.chunk)) {
      auto& model_task = *task;
      if (turn.pass == (model_task.of_parameters ? Pass::input_gradients : Pass::weight_gradients)) {
        model_.skip(model_task.waits_for);
        continue;
      }
      place.go_to({model_task.block, passes_.layer_of_rank(model_task.task.layer)}, leave, enter);
      model_.add(model_task, !part_ && pass.is_last && model_task.gradients == 0);
      if (model_task.gradients == 0) continue;
      if (pass.adds_to_gradients && sync_.keeps_gradients())
        gradients_.accumulate(next, model_task.gradients, model_task.task);
      if (pass.is_last) {
        gradients_.hand_over(next, model_task.gradients, model_task.task);
      } else {
        sync_.gradients_ready(tasks_, model_task.gradients, model_task.task, false);
      }
      next += model_task.gradients;
    }
    place.go_to({}, leave, enter);
    if (turn.chunk == 0) sync_.after_backward(tasks_, Module{});
    if (is_pipeline()) sync_.after_backward_pass(tasks_);
  }

  Bytes offloaded(std::int32_t of_block) const {
    return costs_.memory.offloaded[static_cast<std::size_t>(of_block)];
  }

  /// A copy of what waits for a block's backward pass between GPU and pinned host memory.
  Task copy_of(std::int32_t of_block, Place to, StreamId stream) const {
    const bool leaves = to == Place::host;
    return copy_task(leaves ? "activations to the host" : "activations from the host",
                     leaves ? Phase::forward : Phase::backward, {.bytes = offloaded(of_block), .to = to},
                     stream, tasks_.gpu().launch_cost * costs_.slower_host);
  }

  /// Moves the input of a recomputed block on the stream of the kernels.
  /// @source torch/autograd/graph.py (save_on_cpu): the CPU waits for the copy to the host only
  void move_input(std::int32_t of_block, Place to) {
    if (offloaded(of_block) == 0_B) return;
    auto task = copy_of(of_block, to, compute_stream);
    task.host_waits = to == Place::host;
    tasks_.add(std::move(task));
  }

  /// Whether activations are copied on streams of their own, which overlaps with kernels.
  bool copies_activations() const { return !scenario_.job.offload_activations.empty(); }

  /// Copies a block's activations while the kernels of the next one run.
  void offload(std::int32_t of_block) {
    if (offloaded(of_block) == 0_B) return;
    auto task = copy_of(of_block, Place::host, to_host_);
    task.after.push_back(tasks_.last());
    copied_[of_block].push_back(tasks_.add(std::move(task)));
  }

  /// Waits for a block's activations, and copies those of the block before it meanwhile.
  void load(std::int32_t of_block) {
    fetch(of_block);
    if (const auto loaded = loaded_.find(of_block); loaded != loaded_.end()) {
      model_.wait_for(loaded->second);
      loaded_.erase(loaded);
    }
    fetch(of_block - 1);
  }
  void fetch(std::int32_t of_block) {
    const auto copied = copied_.find(of_block);
    if (copied == copied_.end() || copied->second.empty() || loaded_.contains(of_block)) return;
    auto task = copy_of(of_block, Place::gpu, from_host_);
    task.after = {tasks_.last(), copied->second.front()};
    copied->second.pop_front();
    loaded_.insert_or_assign(of_block, tasks_.add(std::move(task)));
  }

  /// Repeats the forward pass of a block, or the parts of it that were not kept.
  void recompute(std::int32_t of_block) {
    if ((of_block + 1) % scenario_.job.recompute_every != 0) return;
    if (scenario_.job.recompute_offload) move_input(of_block, Place::gpu);
    ModulePosition place;
    const auto leave = [&](Module module) { sync_.after_recompute(tasks_, module); };
    const auto enter = [&](Module module) { sync_.before_recompute(tasks_, module); };
    for (const auto* model_task : passes_.recomputed(of_block)) {
      if (model_task->is_once) continue;
      place.go_to({Blocks::none, passes_.layer_of_rank(model_task->task.layer)}, leave, enter);
      auto recomputed = *model_task;
      recomputed.task.phase = Phase::backward;
      if (!passes_.has_backward(of_block)) {  // what gathers its parameters does so nevertheless
        recomputed.task.work = Kernel{};
        recomputed.task.launch = Seconds{};
        recomputed.task.launches = 0;
      }
      model_.add(recomputed, true);
    }
    place.go_to({}, leave, enter);
  }

  const Scenario& scenario_;
  const ComputeCosts& costs_;
  Sync& sync_;
  const RankPart* part_;  ///< null if a rank trains the whole model
  RankPasses passes_;
  Program program_;
  TaskList tasks_;
  InputCopies copies_;
  StreamId scales_stream_;
  PassTasks model_;
  StepGradients gradients_;
  std::optional<Exchanges> exchanges_;
  StreamId to_host_{0};
  StreamId from_host_{0};
  std::map<std::int32_t, std::deque<TaskId>> copied_;  ///< by block: copies of micro-batches to the host
  std::map<std::int32_t, TaskId> loaded_;              ///< by block: the copy back that was issued
  double scaled_layers_ = 0;                           ///< layers whose tensors have fp8 scales
};

}  // namespace

Program model_step(const Scenario& scenario, const ComputeCosts& costs, Sync& sync, const RankPart* rank_part,
                   std::vector<MemoryMoment>* memory) {
  return StepBuilder{scenario, costs, sync, rank_part}.run(memory);
}

}  // namespace gradway
