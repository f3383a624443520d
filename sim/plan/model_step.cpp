// SPDX-License-Identifier: Apache-2.0
#include "sim/plan/model_step.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "sim/compute/optimizer_time.hpp"
#include "sim/cost/framework_cost.hpp"
#include "sim/plan/clipping.hpp"
#include "sim/plan/cuda_graphs.hpp"
#include "sim/plan/input/input_copies.hpp"
#include "sim/plan/memory.hpp"
#include "sim/plan/model_tasks.hpp"
#include "sim/plan/module_position.hpp"
#include "sim/plan/pipeline/exchanges.hpp"

namespace gradway {
namespace {

/// The pause before each kernel, where a profile tells it.
std::optional<Seconds> pause_of(const ComputeCosts& costs, const Sync& sync) {
  if (!costs.profile) return std::nullopt;
  return costs.profile->pause + sync.longer_pause();
}

/// Whatever the strategy asks for.
bool needs_blocks(const Job& job) {
  return runs_blocks_again(job.recompute) || job.cuda_graphs == CudaGraphs::layers;
}

/// Writes the step; its functions stand in the order of the step.
class Writer {
 public:
  Writer(const Scenario& scenario, const ComputeCosts& costs, Sync& sync, const RankPart* part)
      : scenario_{scenario},
        costs_{costs},
        sync_{sync},
        part_{part},
        rank_{part ? RankScenario{scenario, part->part.model} : RankScenario{scenario}},
        blocks_{part || (needs_blocks(scenario.job) && sync.blocks() == nullptr)
                    ? std::optional{blocks_of(scenario.model)}
                    : std::nullopt},
        model_{model_tasks(part ? RankScenario{scenario, *part->whole} : rank_, costs, pause_of(costs, sync),
                           blocks_ ? &*blocks_ : sync.blocks())},
        turns_{
            turns_of_rank(pipeline_of(scenario.job.layout), part ? part->rank : 0, scenario.job.accumulate)},
        tasks_{program_, scenario.platform.gpu_models.front(), pause_of(costs, sync), costs.launch,
               costs.slower_host},
        copies_{scenario, tasks_} {
    if (scenario.job.cuda_graphs == CudaGraphs::layers)
      capture_layers(model_, part ? RankScenario{scenario, *part->whole} : rank_, costs);
    program_.name = is_pipeline() ? fmt::format("stage {}", part->rank) : "rank";
    program_.streams = streams_of_a_rank();
    find_passes();
    for (const auto& layer : rank_.model.layers) scaled_layers_ += layer.takes_fp8 ? 1 : 0;
    if (shares_scales(scenario.job)) scales_stream_ = tasks_.add_stream("scales");
    if (!part) return;
    find_blocks_of_part();
    const auto& layout = scenario.job.layout;
    for (const auto group : groups_inside(layout))
      streams_[static_cast<std::size_t>(group)] = tasks_.add_stream(std::string{name_of(group)});
    exchanges_.emplace(scenario, *part, tasks_);
    auto of_part = costs;
    of_part.optimizer = optimizer_time(rank_);
    model_.optimizer = optimizer_tasks(rank_, of_part);
  }

  Program run() {
    copies_.begin_step();
    sync_.before_step(tasks_);
    for (std::size_t i = 0; i < turns_.size();) {
      const auto end = i + (turns_[i].is_woven ? 2 : 1);
      for (auto turn = i; turn < end; ++turn) receive(turn);
      for (auto turn = i; turn < end; ++turn) pass(turn);
      for (; i < end; ++i) send_on(i);
    }
    sync_.before_optimizer(tasks_);
    if (exchanges_) {
      reduce_replicated();
      exchanges_->reduce_tied();
    }
    average_micro_batches();
    const auto before_optimizer = tasks_.size();
    if (scenario_.job.clip_grad_norm) clip_gradients(tasks_, rank_, sync_);
    for (auto& one : model_.optimizer) tasks_.add(std::move(one.task));
    sync_.after_optimizer(tasks_);
    const auto& job = scenario_.job;
    // Megatron-Core's graph of a full iteration ends before the optimizer.
    if (job.cuda_graphs == CudaGraphs::step)
      capture_step(program_, has_megatron_modules(job) ? before_optimizer : tasks_.size(), rank_, costs_);
    program_.samples = static_cast<double>(job.batch_per_gpu) * job.accumulate / job.layout.ranks_of_model();
    program_.memory =
        memory_use(rank_, part_ ? memory_of_turns(costs_.memory, part_->part, turns_) : costs_.memory, sync_);
    program_.units = sync_.take_units();
    if (part_) name_layers_of_the_whole();
    return std::move(program_);
  }

 private:
  bool is_pipeline() const { return scenario_.job.layout.pipeline > 1; }
  bool is_first_stage() const { return !part_ || part_->rank == 0; }

  void receive(std::size_t turn) {
    if (!exchanges_) return;
    if (const auto received = exchanges_->before(turns_, turn)) due_.push_back(*received);
  }

  void pass(std::size_t turn) {
    const auto& of = turns_[turn];
    const auto first = program_.tasks.size();
    if (of.pass == Pass::forward) {
      forward(of);
    } else {
      backward(of, passes_[turn]);
    }
    if (is_pipeline())
      program_.passes.push_back({of.pass, of.micro_batch, of.chunk, first, program_.tasks.size()});
    due_.insert(due_.end(), sent_.begin(), sent_.end());
    sent_.clear();
    if (of.pass != Pass::weight_gradients) share_scales(of.pass == Pass::forward);
  }

  /// Delayed scaling: behind each pass the greatest values of its tensors are joined, all ranks of a stage
  /// take their maximum, and one kernel makes scales of them. An input, a weight and a result have one in a
  /// layer's forward pass, two gradients in its backward pass; the next pass waits.
  /// @source transformer_engine/pytorch/fp8.py, reduce_and_update_fp8_tensors
  void share_scales(bool is_forward) {
    if (!shares_scales(scenario_.job) || scaled_layers_ == 0) return;
    const auto phase = is_forward ? Phase::forward : Phase::backward;
    auto last = tasks_.kernel("scales", phase, tasks_.tiny(2, smallest_kernel), 2);
    computed_ = last;
    is_rest_ = false;
    if (scenario_.job.gpus == scenario_.job.layout.pipeline) return;
    const Bytes size{fp32_bytes * (is_forward ? 3 : 2) * scaled_layers_ / scenario_.job.layout.chunks};
    last = tasks_.call({CollectiveKind::all_reduce, size, scales_slot()}, scales_stream_,
                       "all-reduce of greatest values", tasks_.cpu(ddp_cpu.all_reduce), last);
    due_.push_back(last);
  }

  /// PyTorch's schedules divide whole gradients by the number of micro-batches, a kernel a parameter; who
  /// shards them (torchtitan) divides the loss. @source torch/distributed/pipelining/stage.py, scale_grads
  void average_micro_batches() {
    const auto& job = scenario_.job;
    if (!is_pipeline() || job.framework != Framework::pytorch || job.accumulate == 1 || sync_.own_gradients())
      return;
    Bytes size{};
    const auto gradients = gradients_in_order(rank_.model);
    for (const auto& gradient : gradients) size += gradient.size;
    const auto kernels = static_cast<int>(gradients.size());
    if (kernels == 0) return;
    const auto launch = tasks_.hook(call_in_place, kernels);
    const auto id = tasks_.memory_kernels("gradients averaged", 2 * size, kernels, launch);
    tasks_[id].phase = Phase::optimizer;
  }

  Slot scales_slot() const {
    if (part_) return part_->scales;
    return Slot{static_cast<std::uint32_t>(std::max<std::size_t>(1, sync_.groups().size()))};
  }

  void send_on(std::size_t turn) {
    if (!exchanges_) return;
    auto made = due_;
    made.push_back(*computed_);
    exchanges_->after(turns_, turn, std::move(made));
  }

  /// Of a backward pass: where it stands among those of its chunk.
  struct BackwardPass {
    bool adds_to_gradients = false;
    bool is_last = false;  ///< that makes gradients of parameters
  };

  void find_passes() {
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
    const auto chunk = [&](const ModelTask& one) { return chunk_of(one); };
    const auto block = [](const ModelTask& one) { return one.block; };
    forward_ = by_number(model_.forward, chunk);
    backward_ = by_number(model_.backward, chunk);
    again_ =
        by_number(scenario_.job.recompute == Recompute::selective_op ? model_.again : model_.forward, block);
    for (auto* tasks : {&forward_, &backward_}) tasks->resize(chunks);
    if (is_first_stage()) {
      for (const auto* one : forward_.front())
        if (std::holds_alternative<Copy>(one->task.work)) batch_.push_back(one->task);
    }
    again_.resize(std::max(again_.size(), by_number(model_.backward, block).size()));
    // Gradients of later chunks stand first.
    first_gradient_.assign(chunks, 0);
    for (const auto& one : model_.backward)
      for (int earlier = 0; earlier < chunk_of(one); ++earlier)
        first_gradient_[static_cast<std::size_t>(earlier)] += one.gradients;
  }

  using TasksByNumber = std::vector<std::vector<ModelTask*>>;

  /// Those whose number is none, below zero, are left out.
  template <class NumberOf>
  static TasksByNumber by_number(std::vector<ModelTask>& tasks, const NumberOf& number_of) {
    TasksByNumber found;
    for (auto& one : tasks) {
      const auto number = number_of(one);
      if (number < 0) continue;
      found.resize(std::max(found.size(), static_cast<std::size_t>(number) + 1));
      found[static_cast<std::size_t>(number)].push_back(&one);
    }
    return found;
  }

  int chunk_of(const ModelTask& one) const {
    if (!part_) return 0;
    if (one.task.layer == Task::none) return part_->rank == 0 ? 0 : PartOfModel::none;  // the input
    return part_->part.chunk[static_cast<std::size_t>(one.task.layer)];
  }

  /// The strategy knows the layers of its rank alone.
  std::int32_t layer_of_rank(std::int32_t layer) const {
    return !part_ || layer == Task::none ? layer : part_->part.place[static_cast<std::size_t>(layer)];
  }

  /// The strategy counts the blocks of its rank alone, too.
  Module of_rank(Module module) const {
    if (part_ && module.kind == Module::Kind::block)
      module.index = block_of_rank_[static_cast<std::size_t>(module.index)];
    return module;
  }

  void find_blocks_of_part() {
    block_of_rank_.assign(static_cast<std::size_t>(blocks_->count), Blocks::none);
    const auto own = blocks_of(rank_.model).of_layer;
    for (std::size_t i = 0; i < own.size(); ++i) {
      const auto block = blocks_->of_layer[static_cast<std::size_t>(part_->part.layers[i])];
      if (block != Blocks::none) block_of_rank_[static_cast<std::size_t>(block)] = own[i];
    }
  }

  void name_layers_of_the_whole() {
    const auto& layers = part_->part.layers;
    for (auto& unit : program_.units)
      for (auto& gradient : unit.gradients) gradient.layer = layers[static_cast<std::size_t>(gradient.layer)];
  }

  void forward(const StageTurn& turn) {
    const bool is_last = turn.micro_batch + 1 == scenario_.job.accumulate;
    if (turn.chunk == 0) {
      if (is_first_stage()) {
        const auto copied = copies_.before_forward(turn.micro_batch, batch_);
        due_.insert(due_.end(), copied.begin(), copied.end());
      }
      sync_.before_micro_step(tasks_, {turn.micro_batch, is_last});
    }
    ModulePosition place;
    bool begun = turn.chunk > 0;
    const auto leave = [&](Module module) { sync_.after_forward(tasks_, of_rank(module)); };
    for (auto* one : forward_[static_cast<std::size_t>(turn.chunk)]) {
      if (one->is_once && turn.micro_batch > 0) continue;
      const bool is_copy = std::holds_alternative<Copy>(one->task.work);
      if (is_copy && copies_.prefetches()) continue;
      if (!begun && !is_copy) {
        copies_.before_kernels(turn.micro_batch);
        sync_.before_forward(tasks_, Module{});
        begun = true;
      }
      place.go_to({one->block, layer_of_rank(one->task.layer)}, leave,
                  [&](Module module) { sync_.before_forward(tasks_, of_rank(module)); });
      add(*one, !part_ && is_last && !runs_blocks_again(scenario_.job.recompute));
    }
    place.go_to({}, leave, [](Module) {});
    if (turn.chunk + 1 == scenario_.job.layout.chunks) sync_.after_forward(tasks_, Module{});
    if (turn.chunk == 0) copies_.behind_forward(turn.micro_batch, batch_);
  }

  void backward(const StageTurn& turn, BackwardPass pass) {
    ModulePosition place;
    auto next = first_gradient_[static_cast<std::size_t>(turn.chunk)];
    skipped_ = 0;
    if (is_pipeline()) sync_.before_pass_back(tasks_, turn.pass != Pass::input_gradients);
    if (turn.chunk + 1 == scenario_.job.layout.chunks) sync_.before_backward(tasks_, Module{});
    const auto leave = [&](Module module) { sync_.after_backward(tasks_, of_rank(module)); };
    const auto enter = [&](Module module) {
      sync_.before_backward(tasks_, of_rank(module));
      const bool recomputes =
          runs_blocks_again(scenario_.job.recompute) && turn.pass != Pass::weight_gradients;
      if (recomputes && module.kind == Module::Kind::block) recompute(module.index);
    };
    for (auto* task : backward_[static_cast<std::size_t>(turn.chunk)]) {
      auto& one = *task;
      if (turn.pass == (one.of_parameters ? Pass::input_gradients : Pass::weight_gradients)) {
        skipped_ += one.waits_for;
        continue;
      }
      place.go_to({one.block, layer_of_rank(one.task.layer)}, leave, enter);
      add(one, !part_ && pass.is_last && one.gradients == 0);
      if (one.gradients == 0) continue;
      if (pass.adds_to_gradients && sync_.keeps_gradients()) accumulate(next, one.gradients, one.task);
      if (pass.is_last) {
        ready_.push_back({next, one.gradients, &one.task});
        give_gradients();
      } else {
        sync_.gradients_ready(tasks_, one.gradients, one.task, false);
      }
      next += one.gradients;
    }
    place.go_to({}, leave, enter);
    if (turn.chunk == 0) sync_.after_backward(tasks_, Module{});
    if (is_pipeline()) sync_.after_pass_back(tasks_);
  }

  /// Tells the strategy of those that are ready for good, in its order: schedules may end a later chunk last.
  void give_gradients() {
    for (;;) {
      const auto next = std::ranges::find(ready_, given_, &Ready::first);
      if (next == ready_.end()) return;
      const auto [first, count, task] = *next;
      ready_.erase(next);
      given_ += count;
      sync_.gradients_ready(tasks_, count, *task, true);
    }
  }

  /// A task of the model. On a pipeline the kernels of a block are one task but for the first, which the GPU
  /// begins while the CPU issues the others: a step has too many micro-batches to tell all apart.
  void add(ModelTask& one, bool for_good) {
    if (std::holds_alternative<Call>(one.task.work)) return send(one.task, one.over);
    const bool is_kernel = std::holds_alternative<Kernel>(one.task.work);
    const bool is_rest = is_pipeline() && is_kernel && computed_ && block_ == one.block &&
                         tasks_[*computed_].phase == one.task.phase && !tasks_[*computed_].host_waits;
    const bool waits = one.waits_for + skipped_ > 0 || !due_.empty();
    if (is_rest && is_rest_ && !waits && tasks_.last() == *computed_) return merge(one.task);
    is_rest_ = is_rest;
    const auto id = for_good ? tasks_.add(std::move(one.task)) : tasks_.add(one.task);
    if (!is_kernel) return;
    computed_ = id;
    block_ = one.block;
    auto& after = tasks_[id].after;
    after.insert(after.end(), due_.begin(), due_.end());
    due_.clear();
    for (auto i = one.waits_for + std::exchange(skipped_, 0); i > 0 && !sent_.empty(); --i) {
      after.push_back(sent_.front());
      sent_.pop_front();
    }
  }

  /// To the ranks that share the layers, their tokens or experts.
  void send(Task task, RankGroup over) {
    std::get<Call>(task.work).group = part_->slots[static_cast<std::size_t>(over)];
    task.stream = streams_[static_cast<std::size_t>(over)];
    task.launch = tasks_.cpu(task.launch);
    if (computed_) task.after.push_back(*computed_);
    sent_.push_back(tasks_.add(std::move(task)));
  }

  /// With sequence parallelism the gradients of norms, and of biases behind a sum over the ranks, are of
  /// their own tokens alone. Megatron-Core adds up all in one call. DTensors of norms stay partial sums,
  /// which each of three kernels of the optimizer adds up by itself (own traces of two H200).
  void reduce_replicated() {
    if (!scenario_.job.layout.sequence || scenario_.job.layout.tensor == 1) return;
    constexpr auto of_tensor = static_cast<std::size_t>(RankGroup::tensor);
    const bool at_once = scenario_.job.framework == Framework::megatron;
    constexpr int times = 3;
    std::vector<Bytes> sizes;
    for (std::size_t i = 0; i < rank_.model.layers.size(); ++i) {
      const auto& own = rank_.model.layers[i].parameters;
      const auto& whole = scenario_.model.layers[static_cast<std::size_t>(part_->part.layers[i])].parameters;
      const bool is_shared =
          own.size() == whole.size() && !own.empty() && own.front().shape != whole.front().shape;
      for (const auto& parameter : own) {
        const bool is_vector = parameter.shape.size() == 1;
        const bool is_whole = std::ranges::find(whole, parameter.shape, &Parameter::shape) != whole.end();
        const bool is_router = rank_.model.layers[i].name.ends_with(".router");
        if (!(is_vector || is_router) || !is_whole || (is_shared && !at_once)) continue;
        sizes.insert(sizes.end(), at_once ? 1 : times,
                     Bytes{fp32_bytes * static_cast<double>(parameter.elements())});
      }
    }
    if (at_once && !sizes.empty()) sizes = {std::accumulate(sizes.begin(), sizes.end(), Bytes{})};
    const auto ready = tasks_.wait("gradients of norms", Phase::communication, {});
    std::vector<TaskId> reduced;
    for (const auto size : sizes) {
      reduced.push_back(tasks_.call(
          {CollectiveKind::all_reduce, size, part_->slots[of_tensor]}, streams_[of_tensor],
          "all-reduce of gradients of norms",
          tasks_.cpu(at_once ? ddp_cpu.all_reduce : costs_.operation * dtensor_cpu.redistribution), ready));
    }
    const auto done = tasks_.wait("gradients of norms are reduced", Phase::communication, {});
    tasks_[done].after = std::move(reduced);
  }

  void merge(const Task& task) {
    auto& before = tasks_[*computed_];
    std::get<Kernel>(before.work).work += std::get<Kernel>(task.work).work;
    before.launch += task.launch;
    before.launches += task.launches;
    before.host_waits = task.host_waits;
  }

  /// The forward pass of a block once more, or what of it was not kept.
  void recompute(std::int32_t of_block) {
    if ((of_block + 1) % scenario_.job.recompute_every != 0) return;
    ModulePosition place;
    const auto leave = [&](Module module) { sync_.after_recompute(tasks_, module); };
    const auto enter = [&](Module module) { sync_.before_recompute(tasks_, module); };
    for (const auto* one : again_[static_cast<std::size_t>(of_block)]) {
      if (one->is_once) continue;
      place.go_to({Blocks::none, layer_of_rank(one->task.layer)}, leave, enter);
      auto again = *one;
      again.task.phase = Phase::backward;
      add(again, true);
    }
    place.go_to({}, leave, enter);
  }

  /// A gradient of a later micro-step is added to the one that is there.
  void accumulate(std::size_t first, std::size_t count, const Task& of) {
    if (sizes_.empty()) {
      for (const auto& gradient : gradients_in_order(rank_.model)) sizes_.push_back(gradient.size);
    }
    Bytes size{};
    for (std::size_t i = first; i < first + count; ++i) size += sizes_[i];
    if (has_half_states(scenario_.job)) size = size / 2;
    size = size * sync_.moved_by_adding();
    const auto kernels = static_cast<int>(count);
    const auto launch = tasks_.gpu().launch_cost * kernels;
    if (is_pipeline()) {
      Task task;
      task.work = Kernel{.work = tasks_.memory(size, kernels)};
      task.launch = launch;
      task.launches = kernels;
      return merge(task);
    }
    const auto id = tasks_.memory_kernels(fmt::format("{} accumulate", of.name), size, kernels, launch);
    tasks_[id].phase = Phase::backward;
    tasks_[id].layer = of.layer;
  }

  /// Gradients that are ready, whose turn has not come.
  struct Ready {
    std::size_t first = 0;
    std::size_t count = 0;
    const Task* of = nullptr;
  };

  const Scenario& scenario_;
  const ComputeCosts& costs_;
  Sync& sync_;
  const RankPart* part_;  ///< null: a rank trains all of the model
  RankScenario rank_;
  std::optional<Blocks> blocks_;  ///< of the whole, if they matter, and the strategy has not found them
  std::vector<std::int32_t> block_of_rank_;  ///< by block of the whole: among those of the rank
  ModelTasks model_;
  std::vector<StageTurn> turns_;
  TasksByNumber forward_;                    ///< of the model, by chunk
  TasksByNumber backward_;                   ///< of the model, by chunk
  TasksByNumber again_;                      ///< what runs again, by block
  std::vector<BackwardPass> passes_;         ///< by turn
  std::vector<std::size_t> first_gradient_;  ///< by chunk: in the order of the rank's gradients
  Program program_;
  TaskList tasks_;
  InputCopies copies_;
  std::vector<Task> batch_;  ///< the copies of one; none where the rank takes no batch
  std::optional<Exchanges> exchanges_;
  std::vector<Ready> ready_;
  std::size_t given_ = 0;           ///< gradients that the strategy was told of
  std::optional<TaskId> computed_;  ///< the model's last kernel
  std::int32_t block_ = Blocks::none;
  bool is_rest_ = false;  ///< the last kernel is not its block's first
  /// By `RankGroup`.
  std::vector<StreamId> streams_ = std::vector<StreamId>(rank_group_words.size(), StreamId{0});
  double scaled_layers_ = 0;  ///< whose tensors have scales of fp8
  StreamId scales_stream_{0};
  std::deque<TaskId> sent_;   ///< to the ranks that share the layers, and nobody waited for it
  int skipped_ = 0;           ///< of them, that a half of the backward pass left out waits for
  std::vector<TaskId> due_;   ///< of passes before; the next kernel waits for it
  std::vector<Bytes> sizes_;  ///< of the gradients, in the order in which they get ready; filled when needed
};

}  // namespace

Program model_step(const Scenario& scenario, const ComputeCosts& costs, Sync& sync, const RankPart* part) {
  return Writer{scenario, costs, sync, part}.run();
}

}  // namespace gradway
