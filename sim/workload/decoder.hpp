// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "sim/workload/model.hpp"

namespace gradway {

/// Multi-head latent attention: queries, keys and values come out of narrow tensors, and a part of each head
/// has no rotary positions. @source DeepSeek-V2, arXiv 2405.04434, section 2.1; transformers'
/// modeling_deepseek_v2.py and modeling_deepseek_v3.py
struct LatentAttention {
  int q_rank = 0;  ///< 0: queries are projected at once, as in DeepSeek-V2-Lite
  int kv_rank = 512;
  int plain_head = 128;  ///< elements of a head of queries and keys without rotary positions
  int rotary_head = 64;  ///< and with them, which all heads of keys share
  int value_head = 128;
};

/// A mixture of experts in the place of an MLP. @source transformers' modeling_mixtral.py,
/// modeling_qwen3_moe.py, modeling_deepseek_v3.py
struct Experts {
  int number = 8;
  int top_k = 2;             ///< experts that a token goes through
  int mlp = 14336;           ///< width of an expert
  int shared = 0;            ///< experts of that width that every token goes through, as one MLP
  bool shared_gate = false;  ///< a trained share of the shared ones, as in Qwen2-MoE
  int dense_layers = 0;      ///< the first so many have an MLP
  bool router_bias = false;  ///< a number an expert, added where the best are chosen, as in DeepSeek-V3
};

/// A decoder, each choice by itself: as GPT-2 (LayerNorm, learned positions, GELU), as Llama (RMSNorm, rotary
/// positions, SwiGLU, fewer heads of keys and values), or as others.
struct DecoderShape {
  enum class Norm { layer_norm, rms_norm };
  enum class Positions { learned, rotary, alibi, none };  ///< alibi: a bias inside the attention kernel
  enum class Activation { gelu, relu, swiglu, geglu };
  /// Attention and MLP one behind the other; or both from the block's input, with a norm each (GPT-NeoX) or
  /// with one for both (GPT-J).
  enum class Blocks { sequential, parallel, parallel_one_norm };

  int layers = 12;
  int heads = 12;
  int hidden = 768;
  int mlp = 3072;
  int vocabulary = 50304;
  int sequence = 1024;
  bool tied_output = false;
  bool bias = true;  ///< of LayerNorms
  int kv_heads = 0;  ///< 0: as many as heads
  Norm norm = Norm::layer_norm;
  Positions positions = Positions::learned;
  Activation activation = Activation::gelu;
  Blocks blocks = Blocks::sequential;
  int head_size = 0;               ///< 0: hidden / heads
  std::optional<bool> qkv_bias{};  ///< these three: without a word as `bias`
  std::optional<bool> attention_output_bias{};
  std::optional<bool> mlp_bias{};
  bool output_bias = false;
  bool qk_norm = false;         ///< of each head of queries and keys, an RMSNorm
  bool embedding_norm = false;  ///< a LayerNorm behind the embedding, as in BLOOM
  bool dropout = false;         ///< behind embedding, attention's softmax, attention and MLP
  int rotary_size = 0;          ///< elements of a head that turn; 0: all
  int position_rows = 0;        ///< of learned positions; 0: `sequence`
  int pad_vocabulary_to = 1;    ///< the embedding has the next multiple of it
  std::optional<LatentAttention> latent{};
  std::optional<Experts> experts{};

  int size_of_head() const { return head_size > 0 ? head_size : hidden / heads; }
  std::int64_t padded_vocabulary() const {
    const std::int64_t multiple = pad_vocabulary_to;
    return (vocabulary + multiple - 1) / multiple * multiple;
  }
};

/// T5 v1.0: RMSNorms, no biases, ReLU, a relative bias of the scores that each stack trains once, a tied
/// output. @source Raffel et al., arXiv 1910.10683; transformers' modeling_t5.py
struct EncoderDecoderShape {
  int layers = 12;  ///< of the encoder, and as many of the decoder
  int heads = 12;
  int head_size = 64;
  int hidden = 768;
  int mlp = 3072;
  int vocabulary = 32128;
  int sequence = 512;         ///< tokens of the encoder
  int target_sequence = 512;  ///< tokens of the decoder; 0: as many as the encoder's
  int position_buckets = 32;
};

ForwardPass decoder(const DecoderShape& shape);
ForwardPass encoder_decoder(const EncoderDecoderShape& shape);

}  // namespace gradway
