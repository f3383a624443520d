// SPDX-License-Identifier: Apache-2.0
#include "sim/report/json/scenario_json.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/cost/calibration_words.hpp"
#include "sim/report/json/campaign_settings_json.hpp"
#include "sim/report/json/input_json.hpp"
#include "sim/report/json/local_sgd_json.hpp"
#include "sim/report/text/text.hpp"
#include "sim/report/text/words.hpp"

namespace gradway::report {
namespace {

using Json = nlohmann::ordered_json;

Json job_json(const Job& job) {
  Json json{{"gpus", job.gpus},
            {"batch_per_gpu", job.batch_per_gpu},
            {"precision", name_of(job.precision)},
            {"state_dtype", name_of(job.state_dtype)},
            {"accumulate", job.accumulate},
            {"attention", name_of(job.attention)},
            {"memory_format", job.channels_last ? "channels_last" : "contiguous"},
            {"compile", job.compiled},
            {"compile_loss", job.compiled_loss},
            {"composed_norms", job.composed_norms},
            {"composed_rotary", job.composed_rotary},
            {"recompute", recompute_word(job)},
            {"framework", name_of(job.framework)},
            {"zero_grad", name_of(job.zero_grad)},
            {"float_logits", job.float_logits},
            {"launch_blocking", job.launch_blocking},
            {"cuda_graphs", name_of(job.cuda_graphs)},
            {"experts", name_of(job.experts)},
            {"clip_grad_norm", job.clip_grad_norm}};
  if (const auto fp8 = fp8_of(job)) json["fp8_recipe"] = name_of(fp8->recipe);
  if (job.slow_gpu > 1) json["slow_gpu"] = job.slow_gpu;
  if (job.sequence > 0) json["sequence"] = job.sequence;
  if (job.recompute_every > 1) json["recompute_every"] = job.recompute_every;
  if (!job.lora) return json;
  json["finetune"] = job.lora->quantised ? "qlora" : "lora";
  json["lora_rank"] = job.lora->rank;
  json["lora_targets"] = lora_target_words[static_cast<std::size_t>(job.lora->targets)];
  return json;
}

/// Only what is not 1.
Json parallel_json(const Job& job) {
  const auto& layout = job.layout;
  Json json = Json::object();
  if (layout.tensor > 1) json.update({{"tensor", layout.tensor}, {"sequence", layout.sequence}});
  if (layout.overlap != Layout{}.overlap) json["overlap"] = name_of(layout.overlap);
  if (layout.context > 1)
    json.update({{"context", layout.context}, {"context_method", name_of(layout.context_method)}});
  if (layout.expert * layout.expert_tensor > 1)
    json.update({{"expert", layout.expert},
                 {"expert_tensor", layout.expert_tensor},
                 {"expert_imbalance", layout.expert_imbalance}});
  if (layout.expert_capacity_factor) json["expert_capacity_factor"] = *layout.expert_capacity_factor;
  if (layout.pipeline > 1) {
    json.update(
        {{"pipeline", layout.pipeline}, {"virtual", layout.chunks}, {"schedule", name_of(layout.schedule)}});
  }
  if (const auto replicas = replicas_of(job.strategy); replicas > 1) json["replicate"] = replicas;
  if (!layout.is_cut()) return json;
  std::vector<std::string_view> order;
  for (const auto axis : layout.order) order.push_back(rank_axis_words[static_cast<std::size_t>(axis)]);
  json["order"] = fmt::format("{}", fmt::join(order, "-"));
  return json;
}

Json traffic_json(const std::vector<BackgroundFlow>& traffic) {
  Json list = Json::array();
  for (const auto& flow : traffic) {
    Json one{{"from", flow.from}, {"to", flow.to}};
    if (flow.rate) {
      one["rate"] = fmt::format("{} B/s", flow.rate->value());
    } else {
      one["load"] = flow.load;
    }
    one["weight"] = flow.weight;
    list.push_back(std::move(one));
  }
  return list;
}

Json anchor_json(const Anchor& anchor) {
  return {{"gpu", anchor.gpu},
          {"precision", name_of(anchor.precision)},
          {"batch", anchor.batch},
          {"optimizer", name_of(anchor.optimizer)},
          {"step_time", fmt::format("{} s", anchor.step_time.value())},
          {"source", anchor.source}};
}

/// Only what is not as built.
Json speeds_json(const Speeds& speeds) {
  Json json = Json::object();
  for (const auto part : all_parts)
    if (speeds[part] != 1) json[std::string{key_of(part)}] = speeds[part];
  return json;
}

void number_json(Json& json, const char* key, const std::optional<Number>& number) {
  if (number) json[key] = name_of(*number);
}

std::string wrap_text(const Wrap& wrap) {
  if (wrap.blocks == 0) return "whole";
  return wrap.blocks == 1 ? "block" : fmt::format("{} blocks", wrap.blocks);
}

/// Each kind's own keys, as a scenario has them.
struct StrategyKeys {
  Json& json;

  void operator()(const Alone&) const {}
  void operator()(const OneCollective& call) const {
    json["operation"] = calibration_words::operations[static_cast<std::size_t>(call.kind)];
    json["size"] = exact_bytes_text(call.size);
    json["timed"] = call.one_by_one ? "one_by_one" : "back_to_back";
  }
  void operator()(const Ddp& ddp) const {
    if (ddp.bucket_cap) json["bucket_cap"] = exact_bytes_text(*ddp.bucket_cap);
    json["static_graph"] = ddp.static_graph;
    json["gradient_as_bucket_view"] = ddp.gradient_as_bucket_view;
    json["comm_hook"] = name_of(ddp.comm_hook);
    if (ddp.comm_hook == CommHook::powersgd) json["powersgd_rank"] = ddp.powersgd_rank;
    if (!ddp.zero_redundancy) return;
    json["zero_redundancy"] = true;
    json["parameters_as_bucket_view"] = ddp.parameters_as_bucket_view;
  }
  void operator()(const Fsdp& fsdp) const {
    json["wrap"] = wrap_text(fsdp.wrap);
    if (fsdp.reshard) {
      const auto over = *fsdp.reshard;
      json["reshard_after_forward"] = over == Fsdp::over_all ? Json(true)
                                      : over == Fsdp::kept   ? Json(false)
                                                             : Json(over);
    }
    json["forward_prefetch"] = fsdp.forward_prefetch;
    json["backward_prefetch"] = fsdp.backward_prefetch;
    json["cpu_offload"] = fsdp.cpu_offload;
    if (fsdp.fp8_all_gather) json["fp8_all_gather"] = true;
    if (fsdp.separate_reduce_scatter_group) json["separate_reduce_scatter_group"] = true;
    if (fsdp.reduce_scatter_max_input_buffers > 1)
      json["reduce_scatter_max_input_buffers"] = fsdp.reduce_scatter_max_input_buffers;
    add_formats(fsdp);
  }
  void operator()(const Fsdp1& fsdp) const {
    json["wrap"] = wrap_text(fsdp.wrap);
    json["sharding_strategy"] = name_of(fsdp.sharding);
    json["forward_prefetch"] = fsdp.forward_prefetch;
    json["backward_prefetch"] = name_of(fsdp.backward_prefetch);
    json["limit_all_gathers"] = fsdp.limit_all_gathers;
    add_formats(fsdp);
  }
  void operator()(const Zero& zero) const {
    json["stage"] = zero.stage;
    json["reduce_bucket_size"] = zero.reduce_bucket_size;
    json["overlap_comm"] = zero.overlaps();
    if (!zero.reduce_scatter) json["reduce_scatter"] = false;
    if (zero.offload_optimizer) json["offload_optimizer"] = true;
    if (zero.stage == 3) {
      json["prefetch_bucket_size"] = zero.prefetch_bucket_size;
      json["max_live_parameters"] = zero.max_live_parameters;
      json["max_reuse_distance"] = zero.max_reuse_distance;
      json["param_persistence_threshold"] = zero.param_persistence_threshold;
      if (zero.synchronous_gathers) json["synchronous_gathers"] = true;
    }
    number_json(json, "communication_dtype", zero.communication_dtype);
    number_json(json, "grad_accum_dtype", zero.grad_accum_dtype);
  }
  void operator()(const DistributedOptimizer& optimizer) const {
    json["shard_optimizer"] = optimizer.shards;
    json["overlap_grad_reduce"] = optimizer.overlap_grad_reduce;
    json["overlap_param_gather"] = optimizer.overlap_param_gather;
    if (optimizer.bucket_size) json["bucket_size"] = *optimizer.bucket_size;
    json["grad_reduce_dtype"] = name_of(optimizer.grad_reduce_dtype);
    if (optimizer.fp8_param_gather) json["fp8_param_gather"] = true;
    if (optimizer.tensor_owners) json["tensor_owners"] = *optimizer.tensor_owners;
    if (!optimizer.gradient_accumulation_fusion) json["gradient_accumulation_fusion"] = false;
  }

 private:
  template <class Sharded>
  void add_formats(const Sharded& fsdp) const {
    number_json(json, "param_dtype", fsdp.param_dtype);
    number_json(json, "reduce_dtype", fsdp.reduce_dtype);
    json["no_sync"] = fsdp.no_sync;
  }
};

Json strategy_of(const Job& job) {
  auto json = strategy_json(job.strategy);
  if (job.local_sgd) add_local_sgd_keys(json, *job.local_sgd);
  return json;
}

}  // namespace

Json scenario_json(const Scenario& scenario) {
  Json json{{"schema", 1}};
  if (trains(scenario.job.strategy)) json["model"] = scenario.model.name;
  json.update({{"platform", scenario.platform.name},
               {"job", job_json(scenario.job)},
               {"strategy", strategy_of(scenario.job)},
               {"optimizer", name_of(scenario.job.optimizer)},
               {"nccl", Json::object()},
               {"input", input_json(scenario.job.input)}});
  // The steps of an epoch are in the input, and a scenario has one of the two.
  if (!scenario.job.input.epoch_steps) json["steps"] = scenario.job.steps;
  for (const auto& [name, value] : scenario.job.nccl) json["nccl"][name] = value;
  if (auto parallel = parallel_json(scenario.job); !parallel.empty()) json["parallel"] = std::move(parallel);
  if (!scenario.job.traffic.empty()) json["traffic"] = traffic_json(scenario.job.traffic);
  if (!scenario.platform.speeds.as_built()) json["faster"] = speeds_json(scenario.platform.speeds);
  if (scenario.anchor) json["anchor"] = anchor_json(*scenario.anchor);
  if (scenario.campaign) json["campaign"] = campaign_settings_json(*scenario.campaign);
  return json;
}

nlohmann::ordered_json strategy_json(const Strategy& strategy) {
  Json json{{"kind", name_of(strategy)}};
  std::visit(StrategyKeys{json}, strategy);
  return json;
}

}  // namespace gradway::report
