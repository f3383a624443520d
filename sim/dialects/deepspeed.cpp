// SPDX-License-Identifier: Apache-2.0
// DeepSpeed's ds_config.json. @source deepspeed/runtime/config.py, deepspeed/runtime/zero/config.py,
// runtime/precision_config.py and docs/_pages/config-json.md, 0.18 and 0.19
#include "sim/dialects/dialect.hpp"

namespace gradway {
namespace {

using enum Form;

constexpr std::string_view keeps_all = "gradway keeps parameters, gradients and optimizer states on the GPU";
constexpr std::string_view keeps_parameters = "gradway keeps a rank's parameters on its GPU";
constexpr std::string_view all_states = "gradway offloads all optimizer states";
constexpr std::string_view no_quantized = "gradway's collectives use 16 or 32 bits per element";
constexpr std::string_view no_zero_option = "gradway simulates ZeRO without it";
constexpr std::string_view same_work = "all steps of gradway do the same work";
constexpr std::string_view one_allgather =
    "gradway gathers parameters after the step in one collective, as recent releases of DeepSpeed do";

constexpr ForeignValue devices[] = {
    {"none", ""},
    {"cpu", "true"},
    {"nvme", "true", "gradway offloads to host memory instead, which takes less time"}};

constexpr TrainerSetting settings_deepspeed[] = {
    setting("train_batch_size", "job.global_batch", own, {.hint = "job.global_batch"}),
    setting("train_micro_batch_size_per_gpu", "job.batch_per_gpu", own, {.hint = "job.batch_per_gpu"}),
    setting("gradient_accumulation_steps", "job.accumulate", own, {.hint = "job.accumulate"}),
    setting("bf16.enabled", "job.precision", own, {.before = "bfloat16.enabled"}),
    setting("fp16.enabled", "job.precision"),
    setting("bf16.bf16_master_weights_and_grads", "job.state_dtype"),
    setting("optimizer.type", "optimizer"),
    setting("optimizer.params.torch_adam", ""),
    setting("optimizer.params.momentum", ""),
    setting("compile.enabled", "job.compile", flag),
    setting("tensor_parallel.autotp_size", "parallel.tensor", ranks),
    setting("pipeline.stages", "parallel.pipeline", ranks),
    setting("gradient_clipping", "job.clip_grad_norm", positive,
            {.hint = "job.clip_grad_norm", .standard = "0"}),
    setting("communication_data_type", "strategy.communication_dtype"),
    setting("data_types.grad_accum_dtype", "strategy.grad_accum_dtype"),
    setting("zero_optimization.stage", "strategy.stage"),
    setting("zero_optimization.overlap_comm", "strategy.overlap_comm", choice,
            {.needs = "strategy.kind=zero"}),
    setting("zero_optimization.offload_optimizer.device", "strategy.offload_optimizer", own,
            {.words = devices, .standard = "none", .thing = "offload device '{}'"}),
    setting("zero_optimization.reduce_bucket_size", "strategy.reduce_bucket_size", elements,
            {.needs = "strategy.kind=zero"}),
    setting("zero_optimization.stage3_prefetch_bucket_size", "strategy.prefetch_bucket_size", elements,
            {.before = "zero_optimization.prefetch_bucket_size", .needs = "strategy.stage=3"}),
    setting("zero_optimization.stage3_max_live_parameters", "strategy.max_live_parameters", elements,
            {.before = "zero_optimization.max_live_parameters", .needs = "strategy.stage=3"}),
    setting("zero_optimization.stage3_max_reuse_distance", "strategy.max_reuse_distance", elements,
            {.before = "zero_optimization.max_reuse_distance", .needs = "strategy.stage=3"}),
    setting("zero_optimization.stage3_param_persistence_threshold", "strategy.param_persistence_threshold",
            elements,
            {.before = "zero_optimization.param_persistence_threshold", .needs = "strategy.stage=3"}),
    setting("zero_optimization.reduce_scatter", "strategy.reduce_scatter"),
};

constexpr UnusedKey unused_deepspeed[] = {
    {"prescale_gradients", "false", "gradway divides gradients as DeepSpeed does by default"},
    {"gradient_predivide_factor", "1", "gradway divides gradients as DeepSpeed does by default"},
    {"sparse_gradients", "false", "gradway's gradients are dense"},
    {"sparse_attention", {}, "gradway's attention is dense"},
    {"amp.enabled", "false",
     "gradway does not support Apex: set --precision, or 'precision' in the scenario"},
    {"torch_autocast.enabled", "false", "gradway's ZeRO computes with parameters of 16 bits, or all in fp32"},
    {"activation_checkpointing",
     {},
     "the model's own code decides whether blocks are recomputed: if so, set job.recompute to full"},
    {"curriculum_learning", {}, same_work},
    {"data_efficiency", {}, same_work},
    {"progressive_layer_drop", {}, same_work},
    {"eigenvalue", {}, same_work},
    {"quantize_training", {}, same_work},
    {"compression_training", {}, same_work},
    {"weight_quantization", {}, same_work},
    {"elasticity.enabled", "false", "gradway uses the batch given by the other keys"},
    {"hybrid_engine", {}, "gradway only simulates training"},
    {"pipeline.partition", {}, "gradway divides the blocks as evenly as possible"},
    {"pipeline.partition_method", {}, "gradway divides the blocks as evenly as possible"},
    {"pipeline.activation_checkpoint_interval", "0", "set job.recompute to full if it is 1"},
    {"compile.deepcompile", "false", "gradway only supports torch.compile"},
    {"zero_optimization.contiguous_gradients", "true", no_zero_option},
    {"zero_optimization.reduce_scatter", "true", no_zero_option},
    {"zero_optimization.allgather_partitions", "true", no_zero_option},
    {"zero_optimization.use_multi_rank_bucket_allreduce", "true", no_zero_option},
    {"zero_optimization.round_robin_gradients", "false", no_zero_option},
    {"zero_optimization.legacy_stage1", "false", no_zero_option},
    {"zero_optimization.memory_efficient_linear", "true", no_zero_option},
    {"zero_optimization.allgather_bucket_size", "5e8", one_allgather},
    {"zero_optimization.enable_sanity_checks", "false", no_zero_option},
    {"zero_optimization.stage3_model_persistence_threshold", {}, no_zero_option},
    {"zero_optimization.stage3_module_granularity_threshold", "0", no_zero_option},
    {"zero_optimization.stage3_use_all_reduce_for_fetch_params", "false", no_zero_option},
    {"zero_optimization.stage3_allgather_sequential", "false", no_zero_option},
    {"zero_optimization.leaf_module", {}, no_zero_option},
    {"zero_optimization.zenflow", {}, keeps_all},
    {"zero_optimization.offload_optimizer.ratio", "1", all_states},
    {"zero_optimization.offload_param.device", "none", keeps_parameters},
    {"zero_optimization.cpu_offload_param", "false", keeps_parameters},
    {"zero_optimization.cpu_offload_params", "false", keeps_parameters},
    {"zero_optimization.zero_hpz_partition_size", "1",
     "gradway gathers from all ranks in the backward pass too"},
    {"zero_optimization.zero_quantized_weights", "false", no_quantized},
    {"zero_optimization.zero_quantized_nontrainable_weights", "false", no_quantized},
    {"zero_optimization.zero_quantized_gradients", "false", no_quantized},
    {"zero_optimization.zeropp_loco_param", {}, no_quantized},
    {"zero_optimization.mics_shard_size", "-1", "gradway shards over all ranks"},
    {"zero_optimization.mics_hierarchical_params_gather", "false", "gradway shards over all ranks"},
};

constexpr std::string_view used_deepspeed =
    "bfloat16.enabled bf16.bf16_optimizer_states zero_optimization.cpu_offload sequence_parallel_size";

constexpr std::string_view ignored_deepspeed =
    "steps_per_print wall_clock_breakdown memory_breakdown dump_state tensorboard wandb comet csv_monitor "
    "monitor_config scheduler flops_profiler comms_logger timers autotuning checkpoint nebula aio "
    "load_universal_checkpoint use_node_local_storage dataloader_drop_last zero_allow_untested_optimizer "
    "zero_force_ds_cpu_optimizer optimizer.params optimizer.legacy_fusion fp16 bf16 bfloat16 "
    "seq_parallel_communication_data_type amp torch_autocast elasticity pipeline tensor_parallel compile "
    "zero_optimization.sub_group_size zero_optimization.load_from_fp32_weights "
    "zero_optimization.elastic_checkpoint zero_optimization.ignore_unused_parameters "
    "zero_optimization.override_module_apply zero_optimization.pipeline_loading_checkpoint "
    "zero_optimization.log_trace_cache_warnings "
    "zero_optimization.stage3_gather_16bit_weights_on_model_save "
    "zero_optimization.gather_16bit_weights_on_model_save "
    "zero_optimization.stage3_gather_fp16_weights_on_model_save zero_optimization.offload_optimizer "
    "zero_optimization.offload_param zero_optimization.cpu_offload_use_pin_memory";

constexpr std::string_view order_deepspeed =
    "job.gpus job.batch_per_gpu job.precision job.state_dtype job.accumulate job.sequence job.compile "
    "job.framework job.clip_grad_norm strategy.kind strategy.stage strategy.reduce_bucket_size "
    "strategy.prefetch_bucket_size strategy.max_live_parameters strategy.max_reuse_distance "
    "strategy.param_persistence_threshold strategy.overlap_comm strategy.offload_optimizer "
    "strategy.reduce_scatter strategy.communication_dtype strategy.grad_accum_dtype strategy.bucket_cap "
    "strategy.comm_hook parallel.tensor parallel.pipeline";

}  // namespace

constinit const Dialect dialects::deepspeed{
    "DeepSpeed", settings_deepspeed, unused_deepspeed, used_deepspeed, ignored_deepspeed, order_deepspeed, 0,
    1024};

}  // namespace gradway
