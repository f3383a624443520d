// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "sim/workload/model.hpp"

namespace gradway {

/// Multi-head latent attention: queries, keys and values are projected from low-rank tensors, and only a part
/// of each head has rotary positions. @source DeepSeek-V2, arXiv 2405.04434, section 2.1; transformers'
/// modeling_deepseek_v2.py and modeling_deepseek_v3.py
struct LatentAttention {
  int q_rank = 0;  ///< 0: queries have a single projection, as in DeepSeek-V2-Lite
  int kv_rank = 512;
  int plain_head = 128;  ///< elements of a head of queries and keys without rotary positions
  int rotary_head = 64;  ///< elements with rotary positions, which all heads of keys share
  int value_head = 128;
};

/// A mixture of experts that replaces an MLP. @source transformers' modeling_mixtral.py,
/// modeling_qwen3_moe.py, modeling_deepseek_v3.py
struct Experts {
  int number = 8;
  int top_k = 2;             ///< experts per token
  int mlp = 14336;           ///< width of an expert
  int shared = 0;            ///< shared experts of that width, which every token uses and which form one MLP
  bool shared_gate = false;  ///< a trained gate scales the shared experts, as in Qwen2-MoE
  int dense_layers = 0;      ///< number of first layers that have an MLP instead
  bool router_bias = false;  ///< a bias per expert in the choice of experts, as in DeepSeek-V3
};

/// A decoder, such as GPT-2 (LayerNorm, learned positions, GELU) or Llama (RMSNorm, rotary positions, SwiGLU,
/// grouped-query attention). Each choice is independent of the others.
struct DecoderShape {
  enum class Norm { layer_norm, rms_norm };
  enum class Positions { learned, rotary, alibi, none };  ///< alibi: a bias within the attention kernel
  enum class Activation { gelu, relu, swiglu, geglu };
  /// sequential: the MLP follows attention. parallel: both read the block's input, each with its own norm
  /// (GPT-NeoX). parallel_one_norm: both read the same norm (GPT-J).
  enum class Blocks { sequential, parallel, parallel_one_norm };

  int layers = 12;
  int heads = 12;
  int hidden = 768;
  int mlp = 3072;
  int vocabulary = 50304;
  int sequence = 1024;
  bool tied_output = false;
  bool bias = true;  ///< of LayerNorms
  int kv_heads = 0;  ///< 0: as many as `heads`
  Norm norm = Norm::layer_norm;
  Positions positions = Positions::learned;
  Activation activation = Activation::gelu;
  Blocks blocks = Blocks::sequential;
  int head_size = 0;                            ///< 0: hidden / heads
  std::optional<bool> qkv_bias{};               ///< empty: as `bias`
  std::optional<bool> attention_output_bias{};  ///< empty: as `bias`
  std::optional<bool> mlp_bias{};               ///< empty: as `bias`
  bool output_bias = false;
  bool qk_norm = false;         ///< RMSNorm on each head of queries and keys
  bool embedding_norm = false;  ///< LayerNorm after the embedding, as in BLOOM
  bool dropout = false;         ///< after embedding, attention's softmax, attention and MLP
  int rotary_size = 0;          ///< elements of a head with rotary positions; 0: all
  int position_rows = 0;        ///< rows of learned positions; 0: `sequence`
  int pad_vocabulary_to = 1;    ///< the vocabulary is padded to a multiple of it
  std::optional<LatentAttention> latent{};
  std::optional<Experts> experts{};

  int size_of_head() const { return head_size > 0 ? head_size : hidden / heads; }
  std::int64_t padded_vocabulary() const {
    const std::int64_t multiple = pad_vocabulary_to;
    return (vocabulary + multiple - 1) / multiple * multiple;
  }
};

/// T5 v1.0: RMSNorm, no biases, ReLU, tied output, and a trained relative bias of the scores that the layers
/// of a stack share. @source Raffel et al., arXiv 1910.10683; transformers' modeling_t5.py
struct EncoderDecoderShape {
  int layers = 12;  ///< of the encoder and of the decoder each
  int heads = 12;
  int head_size = 64;
  int hidden = 768;
  int mlp = 3072;
  int vocabulary = 32128;
  int sequence = 512;         ///< tokens of the encoder
  int target_sequence = 512;  ///< tokens of the decoder; 0: as many as of the encoder
  int position_buckets = 32;
};

ForwardPass decoder(const DecoderShape& shape);
ForwardPass encoder_decoder(const EncoderDecoderShape& shape);

}  // namespace gradway
