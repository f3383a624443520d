// SPDX-License-Identifier: Apache-2.0
// config.json of Hugging Face's models. Families of models read it by code:
// import/training/hugging_face*.cpp.
#include "sim/dialects/dialect.hpp"

namespace gradway {
namespace {

// Keys that do not affect a step.
constexpr std::string_view ignored_hugging_face =
    "rope_parameters classifier_dropout attn_config _name_or_path "
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
    "unk_token_id use_cache verbose attention_type attn_implementation attn_logit_softcapping attn_scale "
    "attn_temperature_tuning cache_implementation chunk_size_feed_forward classifier_bias "
    "classifier_pooling clip_qkv cls_token_id decoder_bias deterministic_flash_attn embedding_multiplier "
    "attention_multiplier experts_per_token expert_capacity floor_scale for_llm_class global_rope_theta "
    "local_rope_theta hidden_act initial_context_length initializer_cutoff_factor logits_scaling "
    "mask_token_id max_window_layers model_max_length mrope_section norm_eps norm_epsilon num_labels "
    "original_max_position_embeddings output_attentions output_hidden_states partial_rotary_factor "
    "position_ids problem_type query_pre_attn_scalar reference_compile repad_logits_with_grad return_dict "
    "rope_local_base_freq rope_percent rope_ratio rotary_base sep_token_id sparse_pred_ignore_index "
    "sparse_prediction suppress_tokens swiglu_limit tie_encoder_decoder torchscript use_bfloat16 "
    "use_sliding_window video_token_id vision_token_id vision_start_token_id vision_end_token_id "
    "image_token_id image_token_index boi_token_index eoi_token_index mm_tokens_per_image audio_token_id "
    "temperature top_p typical_p repetition_penalty length_penalty num_beams num_beam_groups do_sample "
    "early_stopping diversity_penalty num_return_sequences max_length min_length no_repeat_ngram_size "
    "encoder_no_repeat_ngram_size bad_words_ids forced_bos_token_id forced_eos_token_id pruned_heads "
    "exponential_decay_length_penalty remove_invalid_values return_dict_in_generate output_scores "
    "tf_legacy_loss cross_attention_hidden_size mask_time_prob mask_time_length mask_time_min_masks "
    "mask_feature_prob mask_feature_length mask_feature_min_masks median_filter_width classifier_proj_size "
    "use_weighted_layer_sum scale_embedding apply_spec_augment label_smoothing alibi_bias_max "
    "attention_hidden_size embedding_size layer_norm_elementwise_affine max_source_positions "
    "max_sequence_length "
    "projector_hidden_act spatial_merge_size input_jitter_noise mamba_ssm_dtype "
    "is_causal gradient_checkpointing_every use_cache_quantization multi_query";

constexpr UnusedKey unused_hugging_face[] = {
    {"quantization_config",
     {},
     "this is how weights are stored; job.precision of a scenario sets the precision of training"},
    {"rope_scaling", {}, "other rotation angles have the same cost; 'sequence' sets the length of a sample"},
    {"num_nextn_predict_layers", "0",
     "gradway does not support multi-token prediction: its layers are left out"},
    {"layerdrop", "0", "gradway does not drop layers"},
    {"encoder_layerdrop", "0", "gradway does not drop layers"},
    {"decoder_layerdrop", "0", "gradway does not drop layers"},
    {"residual_multiplier", "1", "gradway does not scale residuals, two small kernels per block"},
    {"attention_dropout", "0", "gradway has no dropout in attention of this family"},
    {"attention_probs_dropout_prob", "0.1", "gradway's BERT has dropout of 0.1"},
    {"hidden_dropout_prob", "0.1", "gradway's BERT has dropout of 0.1, its vision transformer none"},
    {"dropout", "0", "gradway has no dropout in this family"},
    {"activation_dropout", "0", "gradway has no dropout in this family"},
    {"embedding_dropout", "0", "gradway has no dropout in this family"},
    {"mlp_dropout", "0", "gradway has no dropout in this family"},
    {"dropout_rate", "0.1", "gradway's T5 has dropout, but not in attention"},
    {"attn_config.qk_ln", "false", "gradway does not normalize queries and keys of MPT"},
    {"gradient_checkpointing", "false", "job.recompute of a scenario sets whether blocks are recomputed"},
    {"use_bidirectional_attention", "false", "gradway's attention is causal, which is half the work"},
    {"mtp_num_hidden_layers", "0",
     "gradway does not support multi-token prediction: its layers are left out"},
    {"num_mtp_layers", "0", "gradway does not support multi-token prediction: its layers are left out"},
    {"position_embedding_type", "absolute", "gradway's BERT has learned positions"},
};

}  // namespace

constinit const Dialect dialects::hugging_face{
    "Hugging Face", {}, unused_hugging_face, {}, ignored_hugging_face};

}  // namespace gradway
