// SPDX-License-Identifier: Apache-2.0
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/report/json/scenario_json.hpp"
#include "sim/report/layouts.hpp"
#include "sim/report/text/text.hpp"

namespace gradway::report {
namespace {

/// A map of plain values on one line of YAML.
std::string flow_map(const nlohmann::ordered_json& map) {
  std::vector<std::string> entries;
  for (const auto& [key, value] : map.items())
    entries.push_back(
        fmt::format("{}: {}", key, value.is_string() ? value.get<std::string>() : value.dump()));
  return fmt::format("{{{}}}", fmt::join(entries, ", "));
}

nlohmann::ordered_json layout_json(const Job& job) {
  const auto& layout = job.layout;
  nlohmann::ordered_json json{{"tensor", layout.tensor}};
  if (layout.tensor > 1) json["sequence"] = layout.sequence;
  if (layout.overlap != Layout{}.overlap && layout.tensor > 1) json["overlap"] = name_of(layout.overlap);
  if (layout.context > 1) {
    json["context"] = layout.context;
    json["context_method"] = name_of(layout.context_method);
  }
  if (layout.expert > 1) json["expert"] = layout.expert;
  if (layout.expert_tensor > 1) json["expert_tensor"] = layout.expert_tensor;
  json["pipeline"] = layout.pipeline;
  if (layout.pipeline > 1) {
    json["virtual"] = layout.chunks;
    json["schedule"] = name_of(layout.schedule);
  }
  if (const auto replicas = replicas_of(job.strategy); replicas > 1) json["replicate"] = replicas;
  if (layout.order == Layout{}.order) return json;
  std::vector<std::string_view> order;
  for (const auto axis : layout.order) order.push_back(rank_axis_words[static_cast<std::size_t>(axis)]);
  json["order"] = fmt::format("{}", fmt::join(order, "-"));
  return json;
}

/// @source megatron/training/arguments.py, Megatron-Core 0.14
std::string megatron_arguments(const Job& job, int blocks) {
  const auto& layout = job.layout;
  std::vector<std::string> arguments{fmt::format("--tensor-model-parallel-size {}", layout.tensor)};
  if (layout.sequence) arguments.emplace_back("--sequence-parallel");
  if (layout.tensor > 1 && layout.overlap == TensorOverlap::userbuffers)
    arguments.emplace_back("--tp-comm-overlap");
  if (layout.tensor > 1 && layout.overlap == TensorOverlap::none)
    arguments.emplace_back("--no-async-tensor-model-parallel-allreduce");
  arguments.push_back(fmt::format("--pipeline-model-parallel-size {}", layout.pipeline));
  if (layout.context > 1) {
    constexpr std::array<std::string_view, 3> methods{"p2p", "all_gather", "a2a"};
    arguments.push_back(fmt::format("--context-parallel-size {} --cp-comm-type {}", layout.context,
                                    methods[static_cast<std::size_t>(layout.context_method)]));
  }
  if (layout.expert * layout.expert_tensor > 1)
    arguments.push_back(fmt::format("--expert-model-parallel-size {} --expert-tensor-parallel-size {}",
                                    layout.expert, layout.expert_tensor));
  if (layout.chunks > 1)
    arguments.push_back(fmt::format("--num-layers-per-virtual-pipeline-stage {}",
                                    blocks / (layout.pipeline * layout.chunks)));
  arguments.push_back(fmt::format("--micro-batch-size {}", job.batch_per_gpu));
  arguments.push_back(fmt::format("--global-batch-size {:.0f}", job.samples()));
  if (job.recomputes)
    arguments.emplace_back(
        "--recompute-granularity full --recompute-method uniform --recompute-num-layers 1");
  if (job.recomputes_attention) arguments.emplace_back("--recompute-granularity selective");
  const auto& optimizer = std::get<DistributedOptimizer>(job.strategy);
  arguments.emplace_back("--use-distributed-optimizer");
  if (optimizer.overlap_grad_reduce) arguments.emplace_back("--overlap-grad-reduce");
  if (optimizer.overlap_param_gather) arguments.emplace_back("--overlap-param-gather");
  return fmt::format("{}\n", fmt::join(arguments, " \\\n"));
}

/// As torch.distributed.pipelining.schedules calls them.
std::string_view torch_name_of(Schedule schedule) {
  constexpr std::array<std::string_view, 7> names{
      "GPipe", "1F1B", "Interleaved1F1B", "LoopedBFS", "InterleavedZeroBubble", "ZBVZeroBubble", "DualPipeV"};
  return names[static_cast<std::size_t>(schedule)];
}

/// @source torchtitan/config/job_config.py, 0.2
std::string torchtitan_tables(const Job& job) {
  const auto& layout = job.layout;
  const auto data = job.data_parallel();
  const bool shards = std::holds_alternative<Fsdp>(job.strategy);
  const auto replicas = shards ? replicas_of(job.strategy) : data;
  std::string text = "[parallelism]\n";
  const auto add = [&](std::string_view key, const auto& value) {
    text += fmt::format("{} = {}\n", key, value);
  };
  add("data_parallel_replicate_degree", replicas);
  add("data_parallel_shard_degree", data / replicas);
  add("tensor_parallel_degree", layout.tensor);
  if (layout.overlap == TensorOverlap::async_tp && layout.tensor > 1)
    add("enable_async_tensor_parallel", "true");
  add("pipeline_parallel_degree", layout.pipeline);
  if (layout.context > 1) {
    add("context_parallel_degree", layout.context);
    const bool rotates = layout.context_method == ContextMethod::ring;
    add("context_parallel_rotate_method", rotates ? "\"alltoall\"" : "\"allgather\"");
  }
  if (layout.expert > 1) add("expert_parallel_degree", layout.expert);
  if (layout.expert_tensor > 1) add("expert_tensor_parallel_degree", layout.expert_tensor);
  auto of_rank = job.batch_per_gpu;
  if (layout.pipeline > 1) {
    add("pipeline_parallel_schedule", fmt::format("\"{}\"", torch_name_of(layout.schedule)));
    add("pipeline_parallel_microbatch_size", job.batch_per_gpu);
    of_rank *= job.accumulate;
  }
  text += "\n[training]\n";
  add("local_batch_size", of_rank);
  add("global_batch_size", fmt::format("{:.0f}", job.samples()));
  text += "\n[activation_checkpoint]\n";
  add("mode", fmt::format("\"{}\"", recompute_word(job)));
  return text;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> settings_of(const Job& job) {
  return {{"parallel", flow_map(layout_json(job))},
          {"strategy", flow_map(strategy_json(job.strategy))},
          {"job.batch_per_gpu", fmt::format("{}", job.batch_per_gpu)},
          {"job.accumulate", fmt::format("{}", job.accumulate)},
          {"job.recompute", std::string{recompute_word(job)}}};
}

LayoutSnippet layout_snippet(const Job& job, int blocks) {
  if (job.framework == Framework::megatron)
    return {"megatron", "megatron.txt", megatron_arguments(job, blocks)};
  return {"torchtitan", "torchtitan.toml", torchtitan_tables(job)};
}

}  // namespace gradway::report
