// SPDX-License-Identifier: Apache-2.0
// Enumerates the layouts that the rules allow.
#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "sim/base/problem.hpp"
#include "sim/scenario/pipeline/schedule.hpp"
#include "sim/scenario/pipeline/stage_layout.hpp"
#include "sim/scenario/pipeline/stages.hpp"
#include "sim/scenario/strategy_facts.hpp"
#include "sim/study/search/layout_requirements.hpp"
#include "sim/study/search/layouts.hpp"
#include "sim/workload/blocks.hpp"

namespace gradway {

void check_can_be_cut(const Scenario& written) {
  const auto& model = written.model;
  if (!trains(written.job.strategy))
    refuse("a collective has no model to distribute", "use a scenario with a model");
  if (model.profile)
    refuse(
        fmt::format("the profile '{}' was measured with the whole model on one GPU: it cannot be distributed",
                    model.name),
        "use a model that is described by its architecture: gradway list models");
  if (!can_be_distributed(model))
    refuse(fmt::format("the model '{}' cannot be distributed: it has neither layers for tensor "
                       "parallelism nor blocks for pipeline stages",
                       model.name),
           "use a model with repeated blocks: gradway list models");
  if (written.job.framework == Framework::deepspeed)
    refuse("layouts are searched for PyTorch and Megatron, not for DeepSpeed",
           "set job.framework=megatron, or pytorch");
}

bool can_be_distributed(const Model& model) {
  return !model.profile && (model.tensor || pipeline_units(model) > 1);
}

namespace {

int gpus_of_domain(const Platform& platform, int gpus) {
  const auto first = platform.nvlink_domain(platform.gpus.front());
  return static_cast<int>(std::count_if(platform.gpus.begin(), platform.gpus.begin() + gpus,
                                        [&](DeviceId id) { return platform.nvlink_domain(id) == first; }));
}

bool divide_each_other(int a, int b) {
  return a % b == 0 || b % a == 0;
}

/// The divisors of a number, the smallest first.
std::vector<int> divisors_of(int number) {
  std::vector<int> small;
  std::vector<int> large;
  for (int divisor = 1; divisor <= number / divisor; ++divisor) {
    if (number % divisor != 0) continue;
    small.push_back(divisor);
    if (divisor != number / divisor) large.push_back(number / divisor);
  }
  small.insert(small.end(), large.rbegin(), large.rend());
  return small;
}

/// Whether a schedule has enough micro-batches: see scenario/pipeline/schedule.hpp.
bool has_enough(const Layout& layout, int micro_batches) {
  if (layout.schedule == Schedule::interleaved) return micro_batches % layout.pipeline == 0;
  if (layout.schedule == Schedule::dual_pipe_v) return micro_batches >= 2 * layout.pipeline;
  return layout.schedule != Schedule::zb_v || micro_batches >= 2 * layout.pipeline - 1;
}

/// Enumerates one dimension after the other.
class Candidates {
 public:
  Candidates(const Scenario& written, int global_batch, bool beyond_nodes)
      : job_{written.job},
        model_{written.model},
        global_batch_{global_batch},
        domain_{gpus_of_domain(written.platform, job_.gpus)},
        beyond_nodes_{beyond_nodes},
        blocks_{blocks_of(model_).count},
        parts_{pipeline_units(model_)} {}

  std::vector<Job> run() {
    for (int tensor = 1; tensor <= job_.gpus; ++tensor) {
      if (!can_split(tensor)) continue;
      for (const int context : contexts_of(tensor))
        for (const int expert : experts_of()) add_pipelines(tensor, context, expert);
    }
    return std::move(found_);
  }

 private:
  bool is_megatron() const { return job_.framework == Framework::megatron; }

  bool can_split(int tensor) const {
    if (job_.gpus % tensor != 0 || (tensor > domain_) != beyond_nodes_) return false;
    if (tensor <= domain_ ? domain_ % tensor != 0 : tensor % domain_ != 0) return false;
    if (tensor == 1) return true;
    if (job_.lora) return false;
    if (model_.experts.number > 0 && !has_megatron_modules(job_)) return false;
    const auto& shape = model_.tensor;
    // Sequence parallelism divides the tokens of a sample, too.
    return shape && shape->heads % tensor == 0 && shape->mlp % tensor == 0 &&
           divide_each_other(shape->kv_heads, tensor) && model_.tokens_per_sample % tensor == 0;
  }

  /// The scenario's number if it is above 1, else powers of two within an NVLink domain that leave each rank
  /// enough tokens to hide its communication.
  std::vector<int> contexts_of(int tensor) const {
    constexpr int enough_tokens = 8192;
    const auto& layout = job_.layout;
    std::vector<int> contexts;
    if (layout.context > 1) {
      if (heads_divide(tensor, layout.context)) contexts.push_back(layout.context);
      return contexts;
    }
    const int tokens = job_.sequence > 0 ? job_.sequence : model_.tokens_per_sample;
    for (int context = 1; context == 1 || (tokens / context >= enough_tokens && tensor * context <= domain_);
         context *= 2) {
      const bool cuts = model_.causal_heads > 0 && !job_.lora && tokens % (2 * context) == 0;
      if (context == 1 || (cuts && heads_divide(tensor, context))) contexts.push_back(context);
    }
    return contexts;
  }

  /// Whether context ranks divide the heads, if they exchange heads.
  bool heads_divide(int tensor, int context) const {
    if (context == 1 || job_.layout.context_method != ContextMethod::all_to_all) return true;
    const auto divides = [&](int heads) { return std::max(1, heads / tensor) % context == 0; };
    return divides(model_.causal_heads) && divides(model_.causal_kv_heads);
  }

  /// The scenario's number if it is above 1, else powers of two that divide the experts.
  std::vector<int> experts_of() const {
    if (job_.layout.expert > 1 || model_.experts.number == 0) return {job_.layout.expert};
    std::vector<int> experts;
    for (int expert = 1; expert <= job_.gpus && model_.experts.number % expert == 0; expert *= 2)
      experts.push_back(expert);
    return experts;
  }

  void add_pipelines(int tensor, int context, int expert) {
    auto layout = job_.layout;
    layout.tensor = tensor;
    layout.context = context;
    layout.expert = expert;
    layout.sequence = tensor > 1;
    layout.pipeline = layout.chunks = 1;
    layout.schedule = Layout{}.schedule;
    const auto of_stage = tensor * layout.context;
    const auto of_experts = layout.expert * layout.expert_tensor;
    for (int ranks = 1; ranks <= std::min(parts_, job_.gpus / of_stage); ++ranks) {
      if (job_.gpus % (of_stage * ranks) != 0 || job_.gpus % (of_experts * ranks) != 0) continue;
      // Without a layout of stages, Megatron requires that they divide the blocks.
      const bool is_even = !is_megatron() || ranks == 1 || blocks_ % ranks == 0;
      const auto blocks = is_even ? std::vector<int>{} : nearly_even_stages(blocks_, ranks);
      if (!is_even && blocks.empty()) continue;
      layout.pipeline = ranks;
      layout.stage_layout = is_even ? "" : stage_layout_of(blocks);
      if (ranks == 1 || !is_even) {
        add_micro_batches(layout);
      } else {
        add_schedules(layout);
      }
    }
  }

  void add_schedules(Layout layout) {
    add_micro_batches(layout);
    const auto named = job_.layout.schedule;
    const auto add = [&](Schedule schedule, int chunks) {
      layout.schedule = schedule;
      layout.chunks = chunks;
      if (pipeline_of(layout).stages() <= parts_) add_micro_batches(layout);
    };
    for (int chunks = 2; blocks_ > 0 && chunks * layout.pipeline <= blocks_; ++chunks) {
      if (blocks_ % (chunks * layout.pipeline) != 0) continue;
      add(Schedule::interleaved, chunks);
      if (named == Schedule::looped_bfs) add(named, chunks);
    }
    if (named == Schedule::gpipe || named == Schedule::zb_h1) add(named, 1);
    if (named == Schedule::zb_v || named == Schedule::dual_pipe_v) add(named, 2);
  }

  void add_micro_batches(const Layout& layout) {
    const auto data = job_.gpus / layout.model_parallel_ranks();
    if (global_batch_ % data != 0) return;
    const auto of_rank = global_batch_ / data;
    auto& batches = divisors_[of_rank];
    if (batches.empty()) batches = divisors_of(of_rank);
    auto job = job_;
    job.layout = layout;
    for (const auto batch : batches) {
      job.batch_per_gpu = batch;
      job.accumulate = of_rank / batch;
      if (has_enough(layout, job.accumulate)) add_recompute(job);
    }
  }

  void add_recompute(Job job) {
    job.recompute = Recompute::none;
    job.recompute_every = 1;
    add_strategies(job);
    if (job.attention == AttentionKernel::math || job.attention == AttentionKernel::composed) {
      job.recompute = Recompute::selective;
      add_strategies(job);
    }
    if (blocks_ == 0) return;
    job.recompute = Recompute::full;
    add_strategies(job);
  }

  void add_strategies(Job job) {
    const auto data = job.replicas();
    if (is_megatron()) {
      auto strategy = settings_or_defaults<DistributedOptimizer>(job.strategy);
      strategy.shards = true;
      strategy.overlap_grad_reduce = strategy.overlap_param_gather = data > 1;
      return add(std::move(job), strategy);
    }
    if (data == 1 && !is_ddp(job.strategy)) return add(std::move(job), NoExchange{});
    const bool is_whole = job.layout.model_parallel_ranks() == 1 && job.layout.expert == 1;
    if (data == 1 || is_whole) add(job, settings_or_defaults<Ddp>(job.strategy));
    if (data == 1) return;
    auto fsdp = fsdp_of(job);
    add(job, fsdp);
    const auto shards = std::max(1, domain_ / job.layout.tensor);  // within an NVLink domain
    if (shards == 1 || shards >= data || data % shards != 0) return;
    fsdp.replicate = data / shards;
    add(std::move(job), fsdp);
  }

  /// FSDP as in the scenario, else with torchtitan's formats: parameters in the format of the job's matrix
  /// products, reductions in fp32.
  /// @source torchtitan/config/job_config.py: mixed_precision_param, mixed_precision_reduce
  static Fsdp fsdp_of(const Job& job) {
    Fsdp fsdp;
    if (const auto* written = std::get_if<Fsdp>(&job.strategy)) {
      fsdp = *written;
    } else if (is_half(job.precision)) {
      fsdp.param_dtype = job.precision == Precision::fp16 ? Number::fp16 : Number::bf16;
      fsdp.reduce_dtype = Number::fp32;
    }
    fsdp.replicate = 1;
    if (fsdp.reshard && *fsdp.reshard > Fsdp::kept) fsdp.reshard.reset();  // ranks that may not divide these
    return fsdp;
  }

  void add(Job job, Strategy strategy) {
    job.strategy = strategy;
    found_.push_back(std::move(job));
  }

  const Job& job_;
  const Model& model_;
  int global_batch_;
  int domain_;  ///< GPUs of an NVLink domain, or of a node
  bool beyond_nodes_;
  int blocks_;
  int parts_;
  std::map<int, std::vector<int>> divisors_;  ///< of the samples of a rank
  std::vector<Job> found_;
};

}  // namespace

std::optional<Job> with_selective_checkpoints(const Model& model, const Job& from) {
  const bool can = model.run && from.framework == Framework::pytorch &&
                   (from.recompute == Recompute::none || from.recompute == Recompute::full) &&
                   blocks_of(model).count > 0;
  if (!can) return std::nullopt;
  auto job = from;
  job.recompute = Recompute::selective_op;
  if (from.recompute == Recompute::full) return job;
  job.recompute_every = 1;
  if (job.accumulate % 2 != 0) return std::nullopt;
  job.accumulate /= 2;
  job.batch_per_gpu *= 2;
  if (!has_enough(job.layout, job.accumulate)) return std::nullopt;
  return job;
}

std::vector<Job> candidate_layouts(const Scenario& written, int global_batch, bool beyond_nodes) {
  return Candidates{written, global_batch, beyond_nodes}.run();
}

namespace {

Number half_of(const Job& job) {
  return precision_outside_fp8(job.precision) == Precision::fp16 ? Number::fp16 : Number::bf16;
}

}  // namespace

std::vector<Settings> unsearched_keys(const Model& model, const Gpu& gpu, const Job& best) {
  std::vector<Settings> keys;
  const auto add = [&](bool can_help, Settings set) {
    if (can_help) keys.push_back(std::move(set));
  };
  const bool is_pytorch = best.framework == Framework::pytorch;
  const auto* fsdp = std::get_if<Fsdp>(&best.strategy);
  const auto& layout = best.layout;
  const bool cuts_sequence = layout.tensor > 1 && layout.sequence;
  add(!is_half(best.precision) && gpu.peak[static_cast<std::size_t>(Precision::bf16)] && is_pytorch,
      {{"job.precision", "bf16"}});
  add(fsdp != nullptr && !fsdp->param_dtype && is_half(best.precision),
      {{"strategy.param_dtype", std::string{name_of(half_of(best))}}, {"strategy.reduce_dtype", "fp32"}});
  add(fsdp != nullptr && fsdp->wrap.blocks > 0 && fsdp->reshard != Fsdp::kept,
      {{"strategy.reshard_after_forward", "false"}});
  add(is_pytorch && model.run && !best.compiled && !best.lora && model.experts.number == 0,
      {{"job.compile", "true"}});
  add(best.optimizer == Optimizer::adamw, {{"optimizer", "adamw_fused"}});
  add(cuts_sequence && is_pytorch && best.compiled && layout.overlap != TensorOverlap::async_tp,
      {{"parallel.overlap", "async_tp"}});
  add(cuts_sequence && best.framework == Framework::megatron && layout.overlap != TensorOverlap::userbuffers,
      {{"parallel.overlap", "userbuffers"}});
  return keys;
}

}  // namespace gradway
