// SPDX-License-Identifier: Apache-2.0
// torchtitan's TOML. @source torchtitan/config/job_config.py, 0.2; names before that: releases of 2024
#include "sim/dialects/dialect.hpp"

namespace gradway {
namespace {

using enum Form;

constexpr std::string_view own_cuts =
    "gradway divides the blocks as evenly as possible, with 2 chunks per rank if the schedule has several; "
    "parallel.virtual changes that";

constexpr ForeignValue formats[] = {{"bfloat16", "bf16"}, {"float32", "fp32"}, {"float16", "fp16"}};
constexpr ForeignValue policies[] = {{"default", ""}, {"always", "true"}, {"never", "false"}};
// @source torch/distributed/tensor/experimental/_attention.py, set_rotate_method
constexpr ForeignValue rotations[] = {{"allgather", "all_gather"}, {"alltoall", "ring"}};
// Case is ignored. @source torch/distributed/pipelining/schedules.py, get_schedule_class
constexpr ForeignValue schedules[] = {{"1F1B", "1f1b"},
                                      {"GPipe", "gpipe"},
                                      {"Interleaved1F1B", "interleaved"},
                                      {"LoopedBFS", "looped_bfs"},
                                      {"ZBVZeroBubble", "zb_v"},
                                      {"DualPipeV", "dual_pipe_v"}};
constexpr ForeignValue recomputed[] = {{"none", ""}, {"selective", "selective"}, {"full", "full"}};
// The modes that capture CUDA graphs. @source torch.compile's documentation of `mode`
constexpr ForeignValue compiled[] = {{"default", ""},
                                     {"reduce-overhead", "reduce_overhead"},
                                     {"max-autotune", "reduce_overhead"},
                                     {"max-autotune-no-cudagraphs", ""}};
constexpr ForeignValue implementations[] = {
    {"fused", "fused"},
    {"foreach", "foreach"},
    {"for-loop", "foreach", "gradway uses the foreach form, which launches fewer kernels"}};
constexpr ForeignValue recipes[] = {
    {"tensorwise", "tensorwise"},
    {"rowwise", "rowwise"},
    {"rowwise_with_gw_hp", "rowwise", "gradway also has gradients of weights in fp8: rowwise is assumed"}};

constexpr TrainerSetting settings_torchtitan[] = {
    setting("parallelism.data_parallel_replicate_degree", "parallel.replicate", own,
            {.before = "training.data_parallel_replicate_degree", .hint = "parallel.replicate"}),
    setting(
        "parallelism.data_parallel_shard_degree", "", own,
        {.before = "training.data_parallel_shard_degree",
         .hint =
             "leave it out: the size of a sharded group follows from 'job.gpus' and 'parallel.replicate'"}),
    setting("parallelism.fsdp_reshard_after_forward", "strategy.reshard_after_forward", word,
            {.before = "training.fsdp_reshard_after_forward",
             .words = policies,
             .standard = "default",
             .thing = "policy '{}'"}),
    setting("parallelism.tensor_parallel_degree", "parallel.tensor", ranks,
            {.before = "training.tensor_parallel_degree", .hint = "parallel.tensor", .otherwise = "1"}),
    setting("parallelism.enable_async_tensor_parallel", "parallel.overlap", own,
            {.before = "experimental.enable_async_tensor_parallel"}),
    setting(
        "parallelism.pipeline_parallel_degree", "parallel.pipeline", ranks,
        {.before = "experimental.pipeline_parallel_degree", .hint = "parallel.pipeline", .otherwise = "1"}),
    setting("parallelism.context_parallel_degree", "parallel.context", ranks,
            {.before = "experimental.context_parallel_degree", .hint = "parallel.context"}),
    setting("parallelism.context_parallel_rotate_method", "parallel.context_method", word,
            {.words = rotations,
             .standard = "allgather",
             .thing = "rotate method '{}'",
             .needs = "parallel.context",
             .otherwise = "alltoall"}),
    setting("parallelism.expert_parallel_degree", "parallel.expert", ranks, {.hint = "parallel.expert"}),
    setting("parallelism.expert_tensor_parallel_degree", "parallel.expert_tensor", ranks),
    setting("parallelism.pipeline_parallel_schedule", "parallel.schedule", own,
            {.before = "experimental.pipeline_parallel_schedule", .words = schedules}),
    setting("parallelism.pipeline_parallel_microbatch_size", ""),
    setting("parallelism.pipeline_parallel_split_points", "", own,
            {.before = "experimental.pipeline_parallel_split_points"}),
    // The embedding and the head count as a layer each, unless the two settings after it change that. @source
    // torchtitan/distributed/pipeline_parallel.py, 0.2
    setting("parallelism.pipeline_parallel_layers_per_stage", ""),
    setting("parallelism.pipeline_parallel_first_stage_less_layers", ""),
    setting("parallelism.pipeline_parallel_last_stage_less_layers", ""),
    setting("training.seq_len", "job.sequence", own, {.hint = "job.sequence"}),
    setting("training.local_batch_size", "job.batch_per_gpu", own,
            {.before = "training.batch_size", .hint = "job.batch_per_gpu"}),
    setting("training.global_batch_size", "job.global_batch", own, {.hint = "job.global_batch"}),
    setting("training.max_norm", "job.clip_grad_norm", positive, {.standard = "1", .otherwise = "0.0"}),
    setting("training.dtype", "job.state_dtype", own,
            {.words = formats, .standard = "float32", .thing = "type '{}'"}),
    setting("training.mixed_precision_param", "strategy.param_dtype", own,
            {.words = formats, .standard = "bfloat16", .thing = "type '{}'"}),
    setting("training.mixed_precision_reduce", "strategy.reduce_dtype", own,
            {.words = formats, .standard = "float32", .thing = "type '{}'"}),
    setting("training.enable_cpu_offload", "strategy.cpu_offload", flag),
    setting("activation_checkpoint.mode", "job.recompute", own,
            {.words = recomputed, .standard = "selective", .thing = "mode '{}'"}),
    setting("activation_checkpoint.selective_ac_option", "job.recompute_every"),
    setting("compile.enable", "job.compile", flag, {.before = "training.compile", .otherwise = "false"}),
    setting("compile.components", "job.fused_loss"),
    setting("compile.mode", "job.cuda_graphs", own,
            {.words = compiled, .standard = "default", .thing = "mode of torch.compile '{}'"}),
    setting("optimizer.name", "optimizer"),
    setting("optimizer.implementation", "", own,
            {.words = implementations, .standard = "fused", .thing = "implementation '{}'"}),
    setting("model.converters", ""),
    setting("quantize.linear.float8.recipe_name", "job.fp8_recipe", word,
            {.before = "float8.recipe_name",
             .words = recipes,
             .standard = "tensorwise",
             .thing = "recipe '{}'",
             .needs = "job.precision=fp8"}),
    setting("quantize.linear.float8.enable_fsdp_float8_all_gather", "strategy.fp8_all_gather", flag,
            {.before = "float8.enable_fsdp_float8_all_gather", .needs = "job.precision=fp8"}),
};

constexpr std::string_view used_torchtitan =
    "training.compile compile.passes model.name model.flavor float8.enable_float8_linear float8.recipe_name "
    "float8.enable_fsdp_float8_all_gather";

constexpr UnusedKey unused_torchtitan[] = {
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
};

constexpr std::string_view ignored_torchtitan =
    "job profiling metrics lr_scheduler checkpoint comm memory_estimation validation debug experimental "
    "fault_tolerance float8 mx quantize model optimizer training.dataset training.dataset_path "
    "training.steps training.warmup_steps training.gc_freq training.gc_debug training.seed "
    "activation_checkpoint parallelism.context_parallel_load_balancer "
    "parallelism.expert_parallel_comm_backend";

constexpr std::string_view order_torchtitan =
    "job.gpus job.batch_per_gpu job.precision job.fp8_recipe job.state_dtype job.accumulate job.sequence "
    "job.compile job.cuda_graphs job.fused_loss job.recompute job.recompute_every job.clip_grad_norm "
    "strategy.kind strategy.bucket_cap strategy.reshard_after_forward strategy.param_dtype "
    "strategy.reduce_dtype strategy.forward_prefetch strategy.fp8_all_gather strategy.cpu_offload "
    "parallel.tensor parallel.sequence parallel.overlap parallel.context parallel.context_method "
    "parallel.expert parallel.expert_tensor parallel.pipeline parallel.virtual parallel.schedule "
    "parallel.replicate";

}  // namespace

constinit const Dialect dialects::torchtitan{"torchtitan",    settings_torchtitan, unused_torchtitan,
                                             used_torchtitan, ignored_torchtitan,  order_torchtitan};

}  // namespace gradway
