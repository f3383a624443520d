// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>

#include "sim/import/training/trainer_settings.hpp"

namespace gradway {

inline constexpr std::string_view no_fsdp_of_megatron =
    "gradway ignores this setting of data parallelism; see 'strategy.kind: fsdp'";
inline constexpr std::string_view own_stages =
    "gradway divides the blocks as evenly as possible: see parallel.pipeline and parallel.virtual";
inline constexpr std::string_view no_ramp =
    "gradway's step has global_batch_size samples, as after the ramp-up";

/// Keys that do not affect a step.
inline constexpr std::string_view ignored_megatron_keys =
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

/// Keys that gradway does not use, or only in part, and what it does instead.
inline constexpr auto unused_megatron_keys = std::to_array<UnusedKey>({
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
    {"use_torch_fsdp2", "false", no_fsdp_of_megatron},
    {"use_megatron_fsdp", "false", no_fsdp_of_megatron},
    {"data_parallel_sharding_strategy", "no_shard", no_fsdp_of_megatron},
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
});

/// Arguments that gradway uses, to suggest one for a misspelled argument.
inline constexpr std::string_view used_megatron_keys =
    "nnodes no_gradient_accumulation_fusion no_bias_swiglu_fusion no_bias_gelu_fusion no_rope_fusion "
    "nproc_per_node world_size num_layers hidden_size "
    "ffn_hidden_size num_attention_heads group_query_attention num_query_groups kv_channels seq_length "
    "position_embedding_type use_rotary_position_embeddings no_position_embedding rotary_percent swiglu "
    "squared_relu normalization disable_bias_linear add_qkv_bias qk_layernorm "
    "untie_embeddings_and_output_weights make_vocab_size_divisible_by vocab_size padded_vocab_size "
    "attention_dropout hidden_dropout num_experts moe_router_topk moe_ffn_hidden_size "
    "moe_shared_expert_intermediate_size moe_shared_expert_gate moe_layer_freq "
    "moe_router_enable_expert_bias multi_latent_attention q_lora_rank kv_lora_rank qk_head_dim "
    "qk_pos_emb_head_dim v_head_dim tensor_model_parallel_size pipeline_model_parallel_size "
    "num_layers_per_virtual_pipeline_stage num_virtual_stages_per_pipeline_rank sequence_parallel "
    "context_parallel_size cp_comm_type moe_expert_capacity_factor moe_pad_expert_input_to_capacity "
    "expert_model_parallel_size expert_tensor_parallel_size use_tp_pp_dp_mapping enable_cuda_graph "
    "external_cuda_graph cuda_graph_impl cuda_graph_scope cuda_graph_modules micro_batch_size "
    "global_batch_size bf16 fp16 "
    "fp8_format fp8_recipe fp8_param_gather fp4_format fp4_recipe fp8_dot_product_attention "
    "fp8_multi_head_attention moe_enable_deepep moe_flex_dispatcher_backend tp_comm_overlap "
    "recompute_activations recompute_granularity "
    "recompute_method recompute_num_layers recompute_modules attention_backend use_flash_attn clip_grad "
    "cross_entropy_loss_fusion cross_entropy_fusion_impl transformer_impl "
    "use_distributed_optimizer overlap_grad_reduce overlap_param_gather ddp_bucket_size "
    "grad_reduce_in_bf16 accumulate_allreduce_grads_in_fp32 optimizer";

}  // namespace gradway
