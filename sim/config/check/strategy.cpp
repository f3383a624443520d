// SPDX-License-Identifier: Apache-2.0
#include "sim/config/check/check.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/scenario/field_tables.hpp"
#include "sim/scenario/strategy_facts.hpp"
#include "sim/scenario/strategy_words.hpp"
#include "sim/workload/blocks.hpp"

namespace gradway::config {
namespace {

void check_without_ddp(const ScenarioSpec& scenario, Problems& problems) {
  const auto kind = scenario.place("strategy.kind");
  const bool is_collective = !trains(scenario.job.strategy);
  const auto& ddp = scenario.ddp;
  if (is_collective && scenario.job.gpus == 1) {
    problems.add(scenario.place("job.gpus"), "a collective requires more than one GPU",
                 "set job.gpus to 2 or more", {{kind, "the strategy is here"}});
  }
  // Ranks that share all experts, as in benchmarks, exchange only tokens.
  const auto& layout = scenario.job.layout;
  const bool shares_experts = layout.expert > 1 && scenario.job.expert_replicas() == 1;
  const bool exchanges = facts_of(scenario.job.strategy).exchanges;
  if (!exchanges && scenario.job.data_parallel() > 1 && layout.context == 1 && !shares_experts) {
    const auto ranks = scenario.job.layout.model_parallel_ranks();
    problems.add(scenario.place("job.gpus"),
                 ranks == 1 ? fmt::format("strategy none trains on a single GPU, but job.gpus is {}",
                                          scenario.job.gpus)
                            : fmt::format("strategy none trains one model on {} ranks, but job.gpus is {}",
                                          ranks, scenario.job.gpus),
                 fmt::format("write 'kind: ddp', or 'gpus: {}'", ranks), {{kind, "the strategy is here"}});
  }
  if (!exchanges && layout.context > 1) {
    problems.add(
        scenario.place("parallel.context"),
        fmt::format(
            "strategy none does not reduce gradients, but {} context-parallel ranks hold the same parameters",
            layout.context),
        "write 'kind: ddp'", {{kind, "the strategy is here"}});
  }
  const Record settings{ddp};
  for (const auto& field : settings.fields()) {
    if (settings.has_default(field)) continue;
    problems.add(
        scenario.place(fmt::format("strategy.{}", field.key)),
        fmt::format("strategy {} has no '{}'", name_of(scenario.job.strategy), field.key),
        kind.line == 0 ? "leave it out, or set strategy.kind=ddp" : "leave it out, or write 'kind: ddp'",
        {{kind, "the strategy is here"}});
  }
}

/// Reports DDP's keys that conflict with others or with the model.
void check_ddp(const ScenarioSpec& scenario, const ModelSpec& model, Problems& problems) {
  const auto& ddp = scenario.ddp;
  if (ddp.unused_parameters > 0 && !ddp.find_unused_parameters) {
    problems.add(scenario.place("strategy.unused_parameters"),
                 "DDP stops with an error at the second step if a parameter gets no gradient",
                 "write 'find_unused_parameters: true', or leave unused_parameters out");
  }
  if (ddp.unused_parameters > 0 && ddp.static_graph) {
    problems.add(scenario.place("strategy.unused_parameters"),
                 "what unused parameters cost is not simulated with static_graph", "leave one of them out",
                 {{scenario.place("strategy.static_graph"), "static_graph is set here"}});
  }
  if (const auto tensors = model.model.parameter_tensors();
      ddp.unused_parameters > 0 && static_cast<std::size_t>(ddp.unused_parameters) >= tensors) {
    problems.add(scenario.place("strategy.unused_parameters"),
                 fmt::format("{} parameters get no gradient, but the model '{}' has {}",
                             ddp.unused_parameters, model.model.name, tensors),
                 "set it to the number of tensors (weights and biases) without gradient",
                 {{model.kind, "the model is here"}});
  }
  if (ddp.comm_hook != CommHook::none && has_half_states(scenario.job)) {
    problems.add(scenario.place("strategy.comm_hook"),
                 fmt::format("comm_hook compresses fp32 gradients, but job.state_dtype is {}",
                             name_of(scenario.job.state_dtype)),
                 "leave comm_hook out", {{scenario.place("job.state_dtype"), "the format is here"}});
  }
}

/// Checks of FSDP1 and FSDP2.
template <class Sharded>
void check_sharded(const ScenarioSpec& scenario, const Sharded& fsdp, const ModelSpec& model,
                   Problems& problems) {
  const auto& job = scenario.job;
  if (const auto ranks = job.replicas(); ranks % fsdp.replicate != 0) {
    problems.add(scenario.place("parallel.replicate"),
                 fmt::format("parallel.replicate {} does not divide {} {}", fsdp.replicate, ranks,
                             ranks == job.gpus ? "GPUs" : "data-parallel ranks"),
                 "set it to a divisor of that number", {{scenario.place("job.gpus"), "the GPUs are here"}});
  }
  if (fsdp.wrap.blocks > 0 && blocks_of(model.model).count == 0) {
    problems.add(scenario.place("strategy.wrap"),
                 fmt::format("the model '{}' has no repeated blocks to wrap", model.model.name),
                 "write 'wrap: whole'", {{model.kind, "the model is here"}});
  }
  if (fsdp.param_dtype && has_half_states(job) && *fsdp.param_dtype != job.state_dtype) {
    problems.add(scenario.place("strategy.param_dtype"),
                 fmt::format("parameters are gathered in {}, but job.state_dtype is {}",
                             name_of(*fsdp.param_dtype), name_of(job.state_dtype)),
                 "leave strategy.param_dtype out",
                 {{scenario.place("job.state_dtype"), "the format of the shards is here"}});
    return;
  }
  const bool half = fsdp.param_dtype && *fsdp.param_dtype != Number::fp32;
  if (half && name_of(*fsdp.param_dtype) != name_of(precision_outside_fp8(job.precision))) {
    problems.add(scenario.place("strategy.param_dtype"),
                 fmt::format("parameters in {} require job.precision {}, not {}", name_of(*fsdp.param_dtype),
                             name_of(*fsdp.param_dtype), name_of(job.precision)),
                 fmt::format("set job.precision to {}", name_of(*fsdp.param_dtype)),
                 {{scenario.place("job.precision"), "the precision is here"}});
  }
}

/// Autocast launches casts that a 16-bit model does not have, so that a profile of one does not predict the
/// other.
void check_profiled_parameters(const ScenarioSpec& scenario, const ModelSpec& model, Problems& problems) {
  const auto& profile = model.model.profile;
  if (!profile || !is_half(scenario.job.precision) || profile->gradients.empty()) return;
  const bool recorded = profile->gradients.front().element_bytes == 2;
  const bool wanted = half_parameters(scenario.job);
  if (recorded == wanted) return;
  if (!facts_of(scenario.job.strategy).sets_formats && !scenario.given.contains("job.state_dtype")) return;
  const auto where = scenario.place(scenario.given.contains("strategy.param_dtype") ? "strategy.param_dtype"
                                    : scenario.given.contains("job.state_dtype")    ? "job.state_dtype"
                                                                                    : "strategy.kind");
  problems.add(
      where,
      recorded ? fmt::format(
                     "the profile '{}' was recorded with 16-bit parameters, but the job has fp32 parameters",
                     model.model.name)
               : fmt::format("the profile '{}' was recorded under autocast with fp32 parameters, but the job "
                             "computes with 16-bit parameters",
                             model.model.name),
      recorded ? "set job.state_dtype, or strategy.param_dtype to keep fp32 master weights, or record a step "
                 "under autocast"
               : "record a step of model.to(torch.bfloat16)",
      {{model.kind, "the profile is here"}});
}

struct CheckStrategy {
  const ScenarioSpec& scenario;
  const ModelSpec& model;
  Problems& problems;

  void operator()(const NoExchange&) const { check_without_ddp(scenario, problems); }
  void operator()(const OneCollective&) const { check_without_ddp(scenario, problems); }
  void operator()(const Ddp&) const { check_ddp(scenario, model, problems); }
  void operator()(const Fsdp& fsdp) const {
    check_without_ddp(scenario, problems);
    check_sharded(scenario, fsdp, model, problems);
    if (!fsdp.reshard || *fsdp.reshard <= Fsdp::kept) return;
    const auto shards = scenario.job.replicas() / fsdp.replicate;
    if (shards % *fsdp.reshard == 0) return;
    problems.add(scenario.place("strategy.reshard_after_forward"),
                 fmt::format("reshard_after_forward {} does not divide the {} ranks of a sharded group",
                             *fsdp.reshard, shards),
                 "set it to a divisor of that number, true, or false",
                 {{scenario.place("job.gpus"), "the GPUs are here"}});
  }
  void operator()(const Fsdp1& fsdp) const {
    check_without_ddp(scenario, problems);
    check_sharded(scenario, fsdp, model, problems);
  }
  void operator()(const Zero& zero) const {
    check_without_ddp(scenario, problems);
    check_sums(zero);
  }
  void operator()(const DistributedOptimizer& optimizer) const {
    check_without_ddp(scenario, problems);
    check_owners(optimizer);
    if (!optimizer.overlap_param_gather || optimizer.overlap_grad_reduce) return;
    problems.add(scenario.place("strategy.overlap_param_gather"),
                 "overlap_param_gather requires overlap_grad_reduce",
                 "write 'overlap_grad_reduce: true', as Megatron requires");
  }

 private:
  /// Reports a conflict with another key.
  void refuse(const char* key, std::string message, const char* other_key, std::string hint) const {
    std::vector<Note> notes;
    if (scenario.given.contains(other_key))
      notes.push_back({scenario.place(other_key), fmt::format("{} is set here", other_key)});
    problems.add(scenario.place(key), std::move(message), std::move(hint), std::move(notes));
  }

  void check_sums(const Zero& zero) const {
    constexpr auto key = "strategy.grad_accum_dtype";
    if (!zero.grad_accum_dtype) return;
    const auto precision = precision_outside_fp8(scenario.job.precision);
    if (*zero.grad_accum_dtype == Number::fp16)
      return refuse(key, "grad_accum_dtype is fp32 or bf16, not fp16", "", "write 'fp32'");
    if (precision != Precision::bf16)
      refuse(key, "grad_accum_dtype requires a model in bf16", "job.precision",
             "write 'precision: bf16', or leave it out");
    if (zero.stage != 1)
      refuse(key, fmt::format("grad_accum_dtype requires ZeRO stage 1, not {}", zero.stage), "strategy.stage",
             "write 'stage: 1', or leave it out");
  }

  void check_owners(const DistributedOptimizer& optimizer) const {
    if (!optimizer.tensor_owners) return;
    const auto refuse = [&](std::string message, const char* key, std::string hint) {
      this->refuse("strategy.tensor_owners", std::move(message), key, std::move(hint));
    };
    const auto ranks = scenario.job.replicas();
    if (ranks % *optimizer.tensor_owners != 0)
      refuse(fmt::format("tensor_owners {} does not divide the {} data-parallel ranks",
                         *optimizer.tensor_owners, ranks),
             "job.gpus", "set it to a divisor of that number; with all ranks it is ZeRO-1");
    if (!optimizer.shards)
      refuse("tensor_owners requires a sharded optimizer", "strategy.shard_optimizer",
             "leave 'shard_optimizer: false' out");
    if (optimizer.overlap_param_gather)
      refuse(
          "tensor_owners conflicts with overlap_param_gather: owners broadcast their tensors after the step",
          "strategy.overlap_param_gather", "leave 'overlap_param_gather' out");
    if (std::ranges::any_of(model.model.layers, &Layer::is_of_experts))
      refuse(fmt::format("tensor_owners is not simulated for models with experts, such as '{}'",
                         model.model.name),
             "strategy.kind", "leave 'tensor_owners' out");
  }
};

/// Whether ranks update slices of parameters instead of whole matrices.
bool steps_slices(const Job& job) {
  const bool owns_tensors =
      settings_or_defaults<DistributedOptimizer>(job.strategy).tensor_owners.has_value();
  return job.layout.tensor > 1 || (facts_of(job.strategy).shards_optimizer && !owns_tensors);
}

void check_optimizer(const ScenarioSpec& scenario, Problems& problems) {
  if (scenario.job.optimizer != Optimizer::muon || !steps_slices(scenario.job)) return;
  std::vector<Note> notes;
  for (const auto* key : {"strategy.kind", "parallel.tensor"})
    if (scenario.given.contains(key))
      notes.push_back({scenario.place(key), fmt::format("{} is set here", key)});
  problems.add(scenario.place("optimizer"),
               "Muon updates whole matrices, but this strategy or layout gives ranks slices of them",
               "use strategy.kind ddp or pipeline parallelism, or another optimizer", std::move(notes));
}

}  // namespace

void check_strategy(const ScenarioSpec& scenario, const ModelSpec& model, Problems& problems) {
  std::visit(CheckStrategy{scenario, model, problems}, scenario.job.strategy);
  check_optimizer(scenario, problems);
  if (trains(scenario.job.strategy)) check_profiled_parameters(scenario, model, problems);
}

}  // namespace gradway::config
