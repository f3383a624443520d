// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>

#include "sim/import/training/trainer_settings.hpp"

namespace gradway {

inline constexpr std::string_view no_dropout =
    "gradway's decoders have no dropout, which needs slightly less work and memory";
inline constexpr std::string_view no_attention_dropout = "gradway's attention has no dropout";

/// Keys that do not affect a step.
inline constexpr std::string_view ignored_hugging_face_keys =
    "rope_parameters hidden_dropout_prob classifier_dropout attn_config _name_or_path "
    "apply_residual_connection_post_layernorm architectures attention_softmax_in_fp32 auto_map "
    "aux_loss_alpha begin_suppress_tokens bias_dropout_fusion bos_token_id decoder_start_token_id dtype "
    "embedding_fraction encoder_stride eos_token_id ep_size finetuning_task gradient_checkpointing_kwargs "
    "head_dim hidden_activation id2label init_device intermediate_size qk_head_dim init_std "
    "initializer_factor initializer_range is_decoder is_encoder_decoder label2id layer_norm_eps "
    "layer_norm_epsilon layer_types learned_pos_emb logit_scale masked_softmax_fusion max_window_layers "
    "n_ctx n_group norm_topk_prob norm_type no_bias num_key_value_heads offset_alibi output_past "
    "output_router_logits pad_token_id prefix pretraining_tp relative_attention_max_distance "
    "reorder_and_upcast_attn rms_norm_eps rope_interleave rope_theta rotary_emb_base "
    "routed_scaling_factor router_aux_loss_coef router_jitter_noise scale_attn_by_inverse_layer_idx "
    "scale_attn_weights scoring_func seq_aux skip_bias_add skip_bias_add_qkv slow_but_exact "
    "summary_activation summary_first_dropout summary_proj_to_labels summary_type summary_use_proj "
    "task_specific_params tokenizer_class topk_group topk_method torch_dtype transformers_version "
    "unk_token_id use_cache verbose";

/// Keys that gradway does not use, or only in part, and what it does instead.
inline constexpr auto unused_hugging_face_keys = std::to_array<UnusedKey>({
    {"quantization_config",
     {},
     "this is how weights are stored; job.precision of a scenario sets the precision of training"},
    {"rope_scaling", {}, "other rotation angles have the same cost; 'sequence' sets the length of a sample"},
    {"num_nextn_predict_layers", "0",
     "gradway does not support multi-token prediction: its layers are left out"},
    {"attention_dropout", "0", no_attention_dropout},
    {"attention_probs_dropout_prob", "0", no_attention_dropout},
    {"attn_pdrop", "0", no_attention_dropout},
    {"dropout", "0", no_dropout},
    {"activation_dropout", "0", no_dropout},
    {"hidden_dropout", "0", no_dropout},
    {"resid_pdrop", "0", no_dropout},
    {"embd_pdrop", "0", no_dropout},
    {"emb_pdrop", "0", no_dropout},
    {"layerdrop", "0", "gradway does not drop layers"},
    {"dropout_rate", "0.1", "gradway's T5 has dropout, but not in attention"},
    {"attn_config.qk_ln", "false", "gradway does not normalize queries and keys of MPT"},
    {"gradient_checkpointing", "false", "job.recompute of a scenario sets whether blocks are recomputed"},
    {"use_bidirectional_attention", "false", "gradway's attention is causal, which is half the work"},
    {"position_embedding_type", "absolute", "gradway's BERT has learned positions"},
});

}  // namespace gradway
