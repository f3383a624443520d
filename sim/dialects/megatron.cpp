// SPDX-License-Identifier: Apache-2.0
// Arguments of Megatron-LM. @source megatron/training/arguments.py, Megatron-Core 0.14, and at d98e8a64dd of
// 2026-08-22; before: their names in releases of 2024 and 2025
#include "sim/dialects/dialect.hpp"

namespace gradway {
namespace {

using enum Form;

constexpr std::string_view no_fsdp =
    "gradway ignores this setting of data parallelism; see 'strategy.kind: fsdp'";
constexpr std::string_view own_stages =
    "gradway divides the blocks as evenly as possible: see parallel.pipeline and parallel.virtual";
constexpr std::string_view no_ramp = "gradway's step has global_batch_size samples, as after the ramp-up";
constexpr std::string_view all_gpus = "did you mean 'job.gpus'? It counts all ranks";
constexpr std::string_view all_nodes =
    "set 'job.gpus' to the number of all GPUs; the number of nodes follows from the platform";

constexpr ForeignValue exchanges[] = {
    {"p2p", "ring"},
    {"all_gather", "all_gather"},
    {"a2a", "all_to_all"},
    {"a2a+p2p", "ring", "gradway has one method for all ranks: a ring without all-to-alls is assumed"}};
constexpr ForeignValue backends[] = {
    {"auto", ""}, {"flash", "flash"}, {"fused", "cudnn"}, {"unfused", "math"}, {"local", "math"}};
constexpr ForeignValue graphs[] = {
    {"none", ""}, {"local", "layers"}, {"transformer_engine", "layers"}, {"full_iteration", "step"}};

constexpr TrainerSetting settings_megatron[] = {
    setting("seq_length", "job.sequence", own, {.hint = "job.sequence"}),
    setting("tensor_model_parallel_size", "parallel.tensor", ranks,
            {.hint = "parallel.tensor", .otherwise = "1"}),
    setting("sequence_parallel", "parallel.sequence", flag,
            {.hint = "did you mean 'parallel.sequence'? It is true or false", .needs = "parallel.tensor"}),
    setting("tp_comm_overlap", "parallel.overlap"),
    setting("no_async_tensor_model_parallel_allreduce", "parallel.overlap"),
    setting("pipeline_model_parallel_size", "parallel.pipeline", ranks,
            {.hint = "parallel.pipeline", .otherwise = "1"}),
    setting("context_parallel_size", "parallel.context", ranks, {.hint = "parallel.context"}),
    setting("cp_comm_type", "parallel.context_method", word,
            {.words = exchanges,
             .standard = "p2p",
             .thing = "method '{}' to exchange keys and values",
             .needs = "parallel.context",
             .otherwise = "p2p",
             .shares_line = true}),
    setting("expert_model_parallel_size", "parallel.expert", ranks, {.hint = "parallel.expert"}),
    setting("expert_tensor_parallel_size", "parallel.expert_tensor", own, {.shares_line = true}),
    setting("num_layers", ""),
    setting("num_layers_per_virtual_pipeline_stage", "parallel.virtual", own, {.shares_line = true}),
    setting("micro_batch_size", "job.batch_per_gpu", own, {.hint = "job.batch_per_gpu"}),
    setting("global_batch_size", "job.global_batch", own, {.hint = "job.global_batch"}),
    setting("bf16", "job.precision", own, {.hint = "write 'precision: bf16' in 'job'"}),
    setting("fp16", "job.precision", own, {.hint = "write 'precision: fp16' in 'job'"}),
    setting("fp4_format", "job.precision", own, {.before = "fp4"}),
    setting("fp4_recipe", "job.fp8_recipe", own, {.shares_line = true}),
    setting("fp8_format", "job.precision", own, {.before = "fp8"}),
    setting("fp8_recipe", "job.fp8_recipe", own, {.shares_line = true}),
    setting("fp8_dot_product_attention", "job.fp8_attention"),
    setting("attention_backend", "job.attention", own,
            {.words = backends, .standard = "auto", .thing = "implementation of attention '{}'"}),
    setting("no_bias_swiglu_fusion", "job.fusions"),
    setting("no_bias_gelu_fusion", "job.fusions", own, {.shares_line = true}),
    setting("no_rope_fusion", "job.fusions"),
    setting("recompute_granularity", "job.recompute"),
    setting("recompute_method", "", own, {.shares_line = true}),
    setting("recompute_num_layers", "job.recompute_every", own, {.shares_line = true}),
    setting("optimizer", "optimizer"),
    setting("clip_grad", "job.clip_grad_norm", positive, {.standard = "1", .otherwise = "0.0"}),
    setting("use_distributed_optimizer", "strategy.shard_optimizer"),
    setting("overlap_grad_reduce", "strategy.overlap_grad_reduce", flag),
    setting("overlap_param_gather", "strategy.overlap_param_gather", flag),
    setting("ddp_bucket_size", "strategy.bucket_size"),
    setting("grad_reduce_in_bf16", "strategy.grad_reduce_dtype"),
    setting("accumulate_allreduce_grads_in_fp32", "strategy.grad_reduce_dtype"),
    setting("fp8_param_gather", "strategy.fp8_param_gather", flag, {.needs = "job.precision=fp8"}),
    setting("moe_expert_capacity_factor", "parallel.expert_capacity_factor"),
    setting("moe_pad_expert_input_to_capacity", "", own, {.shares_line = true}),
    setting("use_tp_pp_dp_mapping", "parallel.order"),
    setting("cuda_graph_impl", "job.cuda_graphs", own,
            {.words = graphs, .standard = "none", .thing = "implementation of CUDA graphs '{}'"}),
    setting("cuda_graph_scope", "", own, {.shares_line = true}),
    // Settings that are read alone.
    setting("cuda_graph_modules", "", own, {.before = "cuda_graph_scope"}),
    setting("cross_entropy_loss_fusion", "job.fused_loss", own, {.hint = "job.fused_loss"}),
    setting("moe_enable_deepep", "parallel.expert_dispatch"),
    setting("no_gradient_accumulation_fusion", "strategy.gradient_accumulation_fusion"),
    setting("nnodes", "", own, {.hint = all_nodes}),
    setting("nproc_per_node", "", own, {.hint = all_nodes}),
    setting("world_size", "job.gpus", own, {.hint = all_gpus}),
};

constexpr UnusedKey unused_megatron[] = {
    {"rampup_batch_size", {}, no_ramp},
    {"step_batch_size_schedule", {}, no_ramp},
    {"fp4_format", {}, "gradway's kernels have at least 8 bits per element and no fp4"},
    {"no_overlap_p2p_communication", "false", "gradway's chunks exchange at the same time"},
    {"microbatch_group_size_per_virtual_pipeline_stage",
     {},
     "gradway's groups have as many micro-batches as there are stages"},
    {"decoder_first_pipeline_num_layers", {}, own_stages},
    {"decoder_last_pipeline_num_layers", {}, own_stages},
    {"pipeline_model_parallel_layout", {}, own_stages},
    {"account_for_embedding_in_pipeline_split", "false", own_stages},
    {"account_for_loss_in_pipeline_split", "false", own_stages},
    {"use_torch_fsdp2", "false", no_fsdp},
    {"use_megatron_fsdp", "false", no_fsdp},
    {"data_parallel_sharding_strategy", "no_shard", no_fsdp},
    {"num_distributed_optimizer_instances", "1", "gradway shards the optimizer over all data-parallel ranks"},
    {"use_precision_aware_optimizer", "false", "gradway keeps optimizer states in fp32"},
    {"defer_embedding_wgrad_compute", "false",
     "gradway multiplies for the output layer's weight gradient at once, and keeps no gradients of logits"},
    {"optimizer_cuda_graph", "false", "gradway launches the kernels of Megatron's optimizer one by one"},
    {"optimizer_cpu_offload", "false", "gradway keeps parameters, gradients and optimizer states on the GPU"},
    {"distribute_saved_activations", "false", "each tensor rank of gradway keeps the whole input of a block"},
    {"window_size", {}, "gradway's attention covers all tokens, which is more work"},
    {"mtp_num_layers", "0", "gradway does not support multi-token prediction, so there is less work"},
    {"moe_shared_expert_overlap", "false", "gradway runs shared experts before or after the others"},
};

// Keys of the model, and those that only code knows.
constexpr std::string_view used_megatron =
    "hidden_size ffn_hidden_size num_attention_heads group_query_attention num_query_groups kv_channels "
    "position_embedding_type use_rotary_position_embeddings no_position_embedding rotary_percent swiglu "
    "squared_relu normalization disable_bias_linear add_qkv_bias qk_layernorm "
    "untie_embeddings_and_output_weights make_vocab_size_divisible_by vocab_size padded_vocab_size "
    "attention_dropout hidden_dropout num_experts moe_router_topk moe_ffn_hidden_size "
    "moe_shared_expert_intermediate_size moe_shared_expert_gate moe_layer_freq "
    "moe_router_enable_expert_bias multi_latent_attention q_lora_rank kv_lora_rank qk_head_dim "
    "qk_pos_emb_head_dim v_head_dim num_virtual_stages_per_pipeline_rank enable_cuda_graph "
    "external_cuda_graph fp8_multi_head_attention moe_flex_dispatcher_backend recompute_activations "
    "recompute_modules use_flash_attn cross_entropy_fusion_impl transformer_impl";

// Keys that do not affect a step.
constexpr std::string_view ignored_megatron =
    "master_addr master_port node_rank rdzv_backend rdzv_endpoint rdzv_id max_restarts standalone "
    "local_rank distributed_backend distributed_timeout_minutes lr min_lr decoupled_lr decoupled_min_lr "
    "lr_decay_style lr_decay_iters lr_decay_samples lr_warmup_iters lr_warmup_samples lr_warmup_fraction "
    "lr_warmup_init lr_wsd_decay_style lr_wsd_decay_iters lr_wsd_decay_samples weight_decay "
    "start_weight_decay end_weight_decay weight_decay_incr_style adam_beta1 adam_beta2 adam_eps "
    "sgd_momentum init_method_std train_iters train_samples exit_interval exit_duration_in_mins seed "
    "loss_scale initial_loss_scale min_loss_scale loss_scale_window hysteresis moe_aux_loss_coeff "
    "moe_z_loss_coeff moe_router_load_balancing_type moe_router_score_function "
    "moe_router_topk_scaling_factor moe_router_bias_update_rate moe_router_dtype moe_router_pre_softmax "
    "data_path data_cache_path train_data_path valid_data_path test_data_path mock_data split num_workers "
    "dataloader_type vocab_file merge_file tokenizer_model tiktoken_pattern "
    "no_create_attention_mask_in_dataloader no_mmap_bin_files reset_position_ids reset_attention_mask "
    "eod_mask_loss log_interval log_throughput log_params_norm log_num_zeros_in_grad "
    "log_timers_to_tensorboard log_memory_to_tensorboard log_validation_ppl_to_tensorboard "
    "timing_log_level tensorboard_dir tensorboard_queue_size tensorboard_log_interval wandb_project "
    "wandb_exp_name wandb_save_dir eval_interval eval_iters save load save_interval no_load_optim "
    "no_load_rng no_save_optim no_save_rng ckpt_format use_dist_ckpt use_checkpoint_args async_save "
    "auto_detect_ckpt_format profile profile_step_start profile_step_end profile_ranks manual_gc "
    "manual_gc_interval empty_unused_memory_level use_mcore_models no_masked_softmax_fusion "
    "rotary_base rotary_seq_len_interpolation_factor use_rope_scaling rope_scaling_factor "
    "rope_type rotary_scaling_factor mscale mscale_all_dim norm_epsilon apply_layernorm_1p "
    "attention_softmax_in_fp32 calculate_per_token_loss moe_grouped_gemm "
    "moe_permute_fusion moe_token_dispatcher_type tokenizer_type max_position_embeddings "
    "check_for_nan_in_loss_and_grad no_check_for_nan_in_loss_and_grad fp8_amax_history_len "
    "fp8_amax_compute_algo fp8_margin fp8_interval cuda_graph_warmup_steps cuda_graph_use_single_mempool "
    "cuda_graph_retain_backward_graph inference_cuda_graph_scope te_rng_tracker use_te_rng_tracker";

constexpr std::string_view order_megatron =
    "job.gpus job.batch_per_gpu job.precision job.fp8_recipe job.fp8_attention job.accumulate job.sequence "
    "job.framework job.attention job.fused_loss job.fusions job.recompute job.cuda_graphs job.clip_grad_norm "
    "strategy.kind strategy.shard_optimizer strategy.overlap_grad_reduce strategy.overlap_param_gather "
    "strategy.fp8_param_gather strategy.bucket_size strategy.grad_reduce_dtype "
    "strategy.gradient_accumulation_fusion parallel.tensor parallel.sequence parallel.overlap "
    "parallel.context parallel.context_method parallel.expert parallel.expert_tensor "
    "parallel.expert_dispatch parallel.expert_capacity_factor parallel.pipeline parallel.virtual "
    "parallel.schedule parallel.order";

}  // namespace

constinit const Dialect dialects::megatron{
    "Megatron-LM", settings_megatron, unused_megatron, used_megatron, ignored_megatron, order_megatron, 1,
    1 << 24};

}  // namespace gradway
