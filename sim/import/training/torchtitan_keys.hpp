// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>

#include "sim/import/training/trainer_settings.hpp"

namespace gradway {

inline constexpr std::string_view own_cuts =
    "gradway cuts the blocks as evenly as can be, for 2 chunks a rank where the schedule has several; "
    "parallel.virtual says otherwise";

/// Keys that are not taken. Rows without words change nothing of a step.
inline constexpr auto untaken_of_torchtitan = std::to_array<UntakenKey>({
    {"job"},
    {"profiling"},
    {"metrics"},
    {"lr_scheduler"},
    {"checkpoint"},
    {"comm"},
    {"memory_estimation"},
    {"validation"},
    {"debug.deterministic", "false", "gradway knows PyTorch's usual kernels"},
    {"debug"},
    {"experimental"},
    {"fault_tolerance.enable", "false", "gradway's ranks do not fail"},
    {"fault_tolerance"},
    {"float8"},
    {"mx"},
    {"quantize"},
    {"model.norm_type", {}, "gradway's description of the model says its norm"},
    {"model"},
    {"optimizer.early_step_in_backward", "false", "gradway steps behind the backward pass"},
    {"optimizer"},
    {"compile.backend", "inductor", "gradway knows torch.compile's inductor only"},
    {"training.dataset"},
    {"training.dataset_path"},
    {"training.steps"},
    {"training.warmup_steps"},
    {"training.gc_freq"},
    {"training.gc_debug"},
    {"training.seed"},
    {"training.deterministic", "false", "gradway knows PyTorch's usual kernels"},
    {"training.dtype", "float32", "gradway keeps the parameters of each rank in fp32"},
    {"activation_checkpoint"},
    {"parallelism.enable_compiled_autograd", "false", "gradway compiles the model only"},
    {"parallelism.disable_loss_parallel", "false", "gradway's tensor ranks share the loss"},
    {"parallelism.enable_loss_parallel", "true", "gradway's tensor ranks share the loss"},
    {"parallelism.enable_async_tensor_parallel", "false", "gradway cuts no product to hide its exchange"},
    {"parallelism.pipeline_parallel_schedule_csv", {}, "gradway has schedules by their names"},
    {"parallelism.module_fqns_per_model_part", {}, own_cuts},
    {"parallelism.context_parallel_load_balancer"},
    {"parallelism.expert_parallel_comm_backend"},
});

/// Taken keys, for the walk over the rest and for what misspelled ones may have meant.
inline constexpr auto taken_of_torchtitan = std::to_array<std::string_view>({
    "model.name",
    "model.flavor",
    "model.converters",
    "float8.enable_float8_linear",
    "float8.recipe_name",
    "float8.enable_fsdp_float8_all_gather",
    "quantize.linear.float8.recipe_name",
    "quantize.linear.float8.enable_fsdp_float8_all_gather",
    "training.local_batch_size",
    "training.global_batch_size",
    "training.seq_len",
    "training.dtype",
    "training.mixed_precision_param",
    "training.mixed_precision_reduce",
    "training.compile",
    "training.max_norm",
    "training.enable_cpu_offload",
    "activation_checkpoint.mode",
    "activation_checkpoint.selective_ac_option",
    "compile.enable",
    "compile.components",
    "optimizer.name",
    "optimizer.implementation",
    "parallelism.data_parallel_replicate_degree",
    "parallelism.data_parallel_shard_degree",
    "parallelism.fsdp_reshard_after_forward",
    "parallelism.tensor_parallel_degree",
    "parallelism.pipeline_parallel_degree",
    "parallelism.context_parallel_degree",
    "parallelism.context_parallel_rotate_method",
    "parallelism.expert_parallel_degree",
    "parallelism.expert_tensor_parallel_degree",
    "parallelism.pipeline_parallel_schedule",
    "parallelism.pipeline_parallel_split_points",
    "parallelism.pipeline_parallel_microbatch_size",
    "parallelism.pipeline_parallel_layers_per_stage",
    "parallelism.pipeline_parallel_first_stage_less_layers",
    "parallelism.pipeline_parallel_last_stage_less_layers",
});

}  // namespace gradway
