// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>

#include "sim/import/training/trainer_settings.hpp"

namespace gradway {

inline constexpr std::string_view own_cuts =
    "gradway divides the blocks as evenly as possible, with 2 chunks per rank if the schedule has several; "
    "parallel.virtual changes that";

/// Keys that do not affect a step.
inline constexpr std::string_view ignored_torchtitan_keys =
    "job profiling metrics lr_scheduler checkpoint comm memory_estimation validation debug experimental "
    "fault_tolerance float8 mx quantize model optimizer training.dataset training.dataset_path "
    "training.steps training.warmup_steps training.gc_freq training.gc_debug training.seed "
    "activation_checkpoint parallelism.context_parallel_load_balancer "
    "parallelism.expert_parallel_comm_backend";

/// Keys that gradway does not use, or only in part, and what it does instead.
inline constexpr auto unused_torchtitan_keys = std::to_array<UnusedKey>({
    {"debug.deterministic", "false", "gradway simulates PyTorch's default kernels"},
    {"fault_tolerance.enable", "false", "gradway's ranks do not fail"},
    {"model.norm_type", {}, "gradway's model file defines the norm"},
    {"optimizer.early_step_in_backward", "false", "gradway's optimizer runs after the backward pass"},
    {"compile.backend", "inductor", "gradway only supports the inductor backend of torch.compile"},
    {"training.disable_cuda_graphs", "true",
     "gradway launches the kernels one by one; job.cuda_graphs changes that"},
    {"training.deterministic", "false", "gradway simulates PyTorch's default kernels"},
    {"training.dtype", "float32", "gradway keeps the parameters of each rank in fp32"},
    {"parallelism.enable_compiled_autograd", "false", "gradway only compiles the model"},
    {"parallelism.disable_loss_parallel", "false", "gradway splits the loss over the tensor ranks"},
    {"parallelism.enable_loss_parallel", "true", "gradway splits the loss over the tensor ranks"},
    {"parallelism.enable_async_tensor_parallel", "false",
     "gradway does not split products to overlap their exchange"},
    {"parallelism.pipeline_parallel_schedule_csv", {}, "gradway only supports schedules by name"},
    {"parallelism.module_fqns_per_model_part", {}, own_cuts},
});

/// Keys that gradway uses, to suggest one for a misspelled key.
inline constexpr std::string_view used_torchtitan_keys =
    "model.name model.flavor model.converters float8.enable_float8_linear float8.recipe_name "
    "float8.enable_fsdp_float8_all_gather quantize.linear.float8.recipe_name "
    "quantize.linear.float8.enable_fsdp_float8_all_gather training.local_batch_size "
    "training.global_batch_size training.seq_len training.dtype training.mixed_precision_param "
    "training.mixed_precision_reduce training.compile training.max_norm training.enable_cpu_offload "
    "activation_checkpoint.mode activation_checkpoint.selective_ac_option compile.enable "
    "compile.components compile.mode compile.passes optimizer.name optimizer.implementation "
    "parallelism.data_parallel_replicate_degree parallelism.data_parallel_shard_degree "
    "parallelism.fsdp_reshard_after_forward parallelism.tensor_parallel_degree "
    "parallelism.pipeline_parallel_degree parallelism.context_parallel_degree "
    "parallelism.context_parallel_rotate_method parallelism.expert_parallel_degree "
    "parallelism.expert_tensor_parallel_degree parallelism.pipeline_parallel_schedule "
    "parallelism.pipeline_parallel_split_points parallelism.pipeline_parallel_microbatch_size "
    "parallelism.pipeline_parallel_layers_per_stage parallelism.pipeline_parallel_first_stage_less_layers "
    "parallelism.pipeline_parallel_last_stage_less_layers";

}  // namespace gradway
