// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <fmt/format.h>

#include "sim/workload/decoder.hpp"
#include "sim/workload/eager/eager.hpp"

namespace gradway {
namespace {

/// A stack of T5: its number of tokens, and the bias that its layers share.
struct T5Stack {
  std::string name;
  std::int64_t tokens = 0;
  Tensor bias{};
};

/// The forward pass of T5 with dropout of 0.1, as in training. Dropout of attention's probabilities is left
/// out except in transformers' program.
class T5Pass {
 public:
  T5Pass(Eager& run, const EncoderDecoderShape& shape)
      : run_{run}, shape_{shape}, width_{std::int64_t{shape.heads} * shape.head_size} {}

  void all() {
    const auto source = run_.tokens(shape_.sequence);
    const auto target = shape_.target_sequence > 0 ? shape_.target_sequence : source;
    const auto encoder = stack("encoder", source);
    auto memory = run_.embedding("encoder.embedding", source, shape_.vocabulary, shape_.hidden);
    memory = run_.dropout("encoder.dropout", memory);
    for (int i = 0; i < shape_.layers; ++i) {
      const auto name = fmt::format("encoder.block.{}", i);
      memory = attended(name + ".attention", memory, memory, encoder.tokens, encoder.tokens, encoder.bias);
      memory = fed_forward(name + ".mlp", memory, encoder.tokens);
    }
    memory = ended(encoder, memory);

    const auto decoder = stack("decoder", target);
    // Transformers gives cross attention no mask if the program has none.
    const auto cross_bias = run_.is_hugging_face()
                                ? Tensor{}
                                : run_.score_bias("decoder.cross_bias", shape_.heads, target, source, 0);
    auto x = run_.embedding_again("decoder.embedding", target, shape_.vocabulary, shape_.hidden);
    x = run_.dropout("decoder.dropout", x);
    for (int i = 0; i < shape_.layers; ++i) {
      const auto name = fmt::format("decoder.block.{}", i);
      x = attended(name + ".attention", x, x, target, target, decoder.bias);
      x = attended(name + ".cross_attention", x, memory, target, source, cross_bias);
      x = fed_forward(name + ".mlp", x, target);
    }
    x = ended(decoder, x);
    x = run_.linear("lm_head", x, target, shape_.hidden, shape_.vocabulary, false, true);
    run_.cross_entropy("loss", x, target, shape_.vocabulary);
  }

 private:
  T5Stack stack(const std::string& name, std::int64_t tokens) {
    return {name, tokens,
            run_.score_bias(name + ".relative_bias", shape_.heads, tokens, tokens, shape_.position_buckets)};
  }

  Tensor ended(const T5Stack& stack, Tensor x) {
    x = run_.rms_norm(stack.name + ".final_norm", x, stack.tokens, shape_.hidden, true);
    return run_.dropout(stack.name + ".final_dropout", x);
  }

  Tensor added(const std::string& name, Tensor residual, Tensor x) {
    return run_.add(name + ".residual", residual, run_.dropout(name + ".dropout", x));
  }

  /// @param source of keys and values; if it is x, they are projected from the norm of x
  Tensor attended(const std::string& name, Tensor x, Tensor source, std::int64_t tokens, std::int64_t keys,
                  Tensor bias) {
    const auto normed = run_.rms_norm(name + ".norm", x, tokens, shape_.hidden, true);
    const auto from = source.id == x.id ? normed : source;
    const auto q = run_.linear(name + ".query", normed, tokens, shape_.hidden, width_, false);
    const auto k = run_.linear(name + ".key", from, keys, shape_.hidden, width_, false);
    const auto v = run_.linear(name + ".value", from, keys, shape_.hidden, width_, false);
    const std::int64_t heads = shape_.heads;
    auto y = run_.attention(name + ".scores", {q, k, v},
                            {.heads = heads,
                             .kv_heads = heads,
                             .tokens = tokens,
                             .head_size = shape_.head_size,
                             .keys = keys,
                             .bias = bias,
                             .dropout = run_.is_hugging_face()});
    y = run_.linear(name + ".output", y, tokens, width_, shape_.hidden, false);
    return added(name, x, y);
  }

  Tensor fed_forward(const std::string& name, Tensor x, std::int64_t tokens) {
    auto y = run_.rms_norm(name + ".norm", x, tokens, shape_.hidden, true);
    y = run_.relu(name + ".relu", run_.linear(name + ".fc1", y, tokens, shape_.hidden, shape_.mlp, false));
    y = run_.dropout(name + ".relu_dropout", y);
    y = run_.linear(name + ".fc2", y, tokens, shape_.mlp, shape_.hidden, false);
    return added(name, x, y);
  }

  Eager& run_;
  const EncoderDecoderShape& shape_;
  std::int64_t width_;
};

/// The forward pass of Whisper, without dropout.
class SpeechPass {
 public:
  SpeechPass(Eager& run, const SpeechShape& shape) : run_{run}, shape_{shape}, hidden_{shape.hidden} {}

  void all() {
    const auto source = shape_.frames / std::int64_t{2};
    const auto target = run_.tokens(shape_.sequence);
    auto memory = run_.input(static_cast<double>(shape_.mel_bins) * shape_.frames);
    memory = convolved("encoder.conv1", memory, shape_.mel_bins, 1, shape_.frames);
    memory = convolved("encoder.conv2", memory, hidden_, 2, shape_.frames);
    memory =
        run_.add_parameters("encoder.positions", memory, {{"encoder.positions.weight", {source, hidden_}}});
    for (int i = 0; i < shape_.layers; ++i) {
      const auto name = fmt::format("encoder.layer.{}", i);
      memory = attended(name + ".attention", memory, memory, source, source, false);
      memory = fed_forward(name + ".mlp", memory, source);
    }
    memory = norm("encoder.norm", memory, source);

    auto x = run_.embedding("decoder.embedding", target, shape_.vocabulary, hidden_);
    x = run_.add_parameters("decoder.positions", x,
                            {{"decoder.positions.weight", {shape_.positions, hidden_}}});
    in_order_ = true;
    for (int i = 0; i < shape_.decoder_layers; ++i) {
      const auto name = fmt::format("decoder.layer.{}", i);
      x = attended(name + ".attention", x, x, target, target, true);
      x = attended(name + ".cross_attention", x, memory, target, source, false);
      x = fed_forward(name + ".mlp", x, target);
    }
    x = norm("decoder.norm", x, target);
    x = run_.linear("lm_head", x, target, hidden_, shape_.vocabulary, false, true);
    run_.cross_entropy("loss", x, target, shape_.vocabulary);
  }

 private:
  /// A convolution over time with GELU. @param frames of the input
  Tensor convolved(const std::string& name, Tensor x, std::int64_t channels, std::int64_t stride,
                   std::int64_t frames) {
    x = run_.conv1d(name, x, channels, hidden_, 3, stride, frames);
    return run_.activation(name + ".gelu", "gelu", x);
  }

  /// The convolutions leave the channels outermost, and sums of the encoder keep that order, so that norms
  /// copy their input. @source own trace of whisper_small on an H100, 2026-11-24, transformers 5.17
  Tensor norm(const std::string& name, Tensor x, std::int64_t tokens) {
    if (run_.is_hugging_face() && !in_order_ && !run_.is_compiled()) x = run_.contiguous(x);
    return run_.layer_norm(name, x, tokens, hidden_);
  }

  /// Transformers scales queries and brings queries, keys and values into the order of heads, and results
  /// back.
  Tensor of_heads(Tensor x) { return run_.is_hugging_face() ? run_.contiguous(x) : x; }

  Tensor attended(const std::string& name, Tensor x, Tensor source, std::int64_t tokens, std::int64_t keys,
                  bool causal) {
    const auto normed = norm(name + ".norm", x, tokens);
    const auto from = source.id == x.id ? normed : source;
    auto q = run_.linear(name + ".query", normed, tokens, hidden_, hidden_);
    if (run_.is_hugging_face()) q = run_.scaled(q);
    const auto k = run_.linear(name + ".key", from, keys, hidden_, hidden_, false);
    const auto v = run_.linear(name + ".value", from, keys, hidden_, hidden_);
    auto y = run_.attention(name + ".scores", {of_heads(q), of_heads(k), of_heads(v)},
                            {.heads = shape_.heads,
                             .kv_heads = shape_.heads,
                             .tokens = tokens,
                             .head_size = hidden_ / shape_.heads,
                             .causal = causal,
                             .keys = keys});
    y = run_.linear(name + ".output", of_heads(y), tokens, hidden_, hidden_);
    return run_.add(name + ".residual", x, y);
  }

  Tensor fed_forward(const std::string& name, Tensor x, std::int64_t tokens) {
    auto y = run_.linear(name + ".fc1", norm(name + ".norm", x, tokens), tokens, hidden_, shape_.mlp);
    y = run_.linear(name + ".fc2", run_.activation(name + ".gelu", "gelu", y), tokens, shape_.mlp, hidden_);
    return run_.add(name + ".residual", x, y);
  }

  Eager& run_;
  const SpeechShape& shape_;
  std::int64_t hidden_;
  bool in_order_ = false;  ///< whether activations are in the order of tokens
};

}  // namespace

ForwardPass encoder_decoder(const EncoderDecoderShape& shape) {
  return [shape](Eager& run) { T5Pass{run, shape}.all(); };
}

ForwardPass speech(const SpeechShape& shape) {
  return [shape](Eager& run) { SpeechPass{run, shape}.all(); };
}

}  // namespace gradway
