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
  int shared_mlp = 0;        ///< width of that MLP, if it is no multiple of an expert's; 0: shared * mlp
  bool shared_gate = false;  ///< a trained gate scales the shared experts, as in Qwen2-MoE
  int dense_layers = 0;      ///< number of first layers that have an MLP instead
  int every = 1;             ///< after them, every n-th layer has experts; the others have an MLP
  bool bias = false;         ///< of the experts' products, as in gpt-oss
  bool router_bias = false;  ///< a bias per expert in the choice of experts, as in DeepSeek-V3

  std::int64_t shared_width() const { return shared_mlp > 0 ? shared_mlp : shared * std::int64_t{mlp}; }
};

/// A gated delta net, which replaces attention in some layers. @source Yang et al., arXiv 2412.06464;
/// transformers' modeling_qwen3_next.py
struct LinearAttention {
  int key_heads = 16;
  int value_heads = 32;
  int key_head = 128;  ///< elements
  int value_head = 128;
  int convolution = 4;  ///< tokens that its causal convolution reads
};

/// An encoder of images or sound beside the text. Its results replace the embeddings of some tokens: blocks
/// without a causal mask read patches, and an MLP joins their results to tokens. A patch of sound is two
/// frames, which two convolutions read.
/// @source transformers' modeling_qwen2_vl.py, modeling_qwen2_5_vl.py, modeling_llava.py, modeling_siglip.py,
/// modeling_qwen2_audio.py, modeling_qwen2_5_omni.py, modeling_voxtral.py
struct Tower {
  int layers = 32;
  int heads = 16;
  int hidden = 1280;
  int mlp = 5120;
  int patches = 4096;       ///< of a sample
  int patch_inputs = 1176;  ///< numbers of a patch of images, or of a frame of sound
  int join = 4;             ///< patches that become one token
  bool llama = false;       ///< RMSNorms and SwiGLU instead of LayerNorms and GELU
  bool rotary = true;       ///< positions; else they are learned
  int window = 0;           ///< patches that most layers read; 0: all
  int full_every = 0;       ///< then every n-th layer reads all
  bool averaged = false;    ///< their mean and one product join patches
  bool frozen = false;      ///< runs without gradients
};

/// A decoder, such as GPT-2 (LayerNorm, learned positions, GELU) or Llama (RMSNorm, rotary positions, SwiGLU,
/// grouped-query attention). Each choice is independent of the others.
struct DecoderShape {
  enum class Norm { layer_norm, rms_norm };
  enum class Positions { learned, rotary, alibi, none };  ///< alibi: a bias within the attention kernel
  /// gelu_new: GELU by its tanh approximation, which transformers writes out, as it does the squared ReLU
  enum class Activation { gelu, gelu_new, relu, relu_squared, swiglu, geglu };
  /// Norms before attention and MLP, after them (OLMo 2), or both (Gemma 2, GLM-4).
  enum class NormPlacement { before, after, both };
  /// Norms of queries and keys: of each head, or of all heads together (OLMo 2).
  enum class QkNorm { none, heads, all_heads };
  /// One projection of queries, keys and values. @see Eager::split, Eager::slices
  enum class Packed { none, split, sliced };
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
  QkNorm qk_norm = QkNorm::none;
  bool embedding_norm = false;              ///< LayerNorm after the embedding, as in BLOOM
  bool dropout = false;                     ///< after embedding, attention's softmax, attention and MLP
  std::optional<bool> attention_dropout{};  ///< of the softmax; empty: as `dropout`
  NormPlacement norm_placement = NormPlacement::before;
  std::optional<Packed> packed{};  ///< of transformers' program; empty: split for shapes of GPT-2, else none
  int window = 0;                  ///< tokens that layers without full attention read; 0: all
  int full_every = 0;           ///< every n-th layer has full attention; 0: all without a window, else none
  int no_rotary_every = 0;      ///< every n-th layer has no rotary positions; 0: none
  bool sinks = false;           ///< a trained number per head joins the softmax, as in gpt-oss
  bool attention_gate = false;  ///< a sigmoid of the input scales attention's results, as in Qwen3-Next
  bool soft_cap = false;        ///< of the logits, as in Gemma 2
  bool masked_lm = false;       ///< no causal mask, and BERT's head for masked words, as in ModernBERT
  std::optional<LinearAttention> linear{};  ///< in layers without full attention
  int rotary_size = 0;                      ///< elements of a head with rotary positions; 0: all
  int position_rows = 0;                    ///< rows of learned positions; 0: `sequence`
  int pad_vocabulary_to = 1;                ///< the vocabulary is padded to a multiple of it
  std::optional<LatentAttention> latent{};
  std::optional<Experts> experts{};
  std::optional<Tower> tower{};  ///< of images
  std::optional<Tower> sound_tower{};

  int size_of_head() const { return head_size > 0 ? head_size : hidden / heads; }
  std::int64_t padded_vocabulary() const {
    const std::int64_t multiple = pad_vocabulary_to;
    return (vocabulary + multiple - 1) / multiple * multiple;
  }
};

/// Whisper: an encoder of mel spectrograms, two convolutions and learned positions before it, and a decoder
/// with cross attention. @source Radford et al., arXiv 2212.04356; transformers' modeling_whisper.py
struct SpeechShape {
  int layers = 12;  ///< of the encoder
  int decoder_layers = 12;
  int heads = 12;
  int hidden = 768;
  int mlp = 3072;
  int vocabulary = 51865;
  int mel_bins = 80;
  int frames = 3000;    ///< of the spectrogram; the encoder has half as many positions
  int positions = 448;  ///< of the decoder
  int sequence = 448;   ///< tokens of the decoder
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
ForwardPass speech(const SpeechShape& shape);

}  // namespace gradway
