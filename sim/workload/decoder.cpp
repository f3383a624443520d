// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/decoder.hpp"

#include <string>

#include <fmt/format.h>

#include "sim/workload/eager.hpp"

namespace gradway {
namespace {

/// What all blocks of a decoder have in common, and the pass they run in.
class DecoderPass {
 public:
  DecoderPass(Eager& run, const DecoderShape& shape)
      : run_{run}, shape_{shape}, tokens_{run.tokens(shape.sequence)}, hidden_{shape.hidden} {}

  void all() {
    const bool learned = shape_.positions == DecoderShape::Positions::learned;
    const auto vocabulary = shape_.padded_vocabulary();
    auto x = run_.embedding("wte", tokens_, vocabulary, hidden_);
    if (shape_.embedding_norm) x = run_.layer_norm("wte_norm", x, tokens_, hidden_, shape_.bias);
    if (learned) {
      const std::int64_t rows = shape_.position_rows > 0 ? shape_.position_rows : shape_.sequence;
      x = run_.add_parameters("wpe", x, {{"wpe.weight", {rows, hidden_}}});
    }
    for (int i = 0; i < shape_.layers; ++i) x = block(fmt::format("h.{}", i), x, i);
    x = norm("ln_f", x);
    x = run_.linear("lm_head", x, tokens_, hidden_, vocabulary, shape_.output_bias, shape_.tied_output);
    run_.cross_entropy("loss", x, tokens_, vocabulary);
  }

 private:
  Tensor norm(const std::string& name, Tensor x) {
    return shape_.norm == DecoderShape::Norm::rms_norm
               ? run_.rms_norm(name, x, tokens_, hidden_)
               : run_.layer_norm(name, x, tokens_, hidden_, shape_.bias);
  }

  Tensor block(const std::string& name, Tensor x, int layer) {
    const auto residual = x;
    const auto normed = norm(name + (is_packed() ? ".ln_1" : ".attention_norm"), x);
    x = attention(name + ".attention", normed);
    if (shape_.blocks == DecoderShape::Blocks::sequential) {
      x = run_.add(name + ".attention.residual", residual, x);
      return run_.add(name + ".mlp.residual", x, fed_forward(name, norm(name + ".ln_2", x), layer));
    }
    const bool one_norm = shape_.blocks == DecoderShape::Blocks::parallel_one_norm;
    const auto fed = fed_forward(name, one_norm ? normed : norm(name + ".ln_2", residual), layer);
    return run_.add(name + ".mlp.residual", residual, run_.add(name + ".parallel", fed, x));
  }

  std::int64_t kv_heads() const { return shape_.kv_heads > 0 ? shape_.kv_heads : shape_.heads; }
  /// As GPT-2 has it: one projection of queries, keys and values.
  bool is_packed() const {
    return shape_.positions == DecoderShape::Positions::learned &&
           shape_.norm == DecoderShape::Norm::layer_norm && kv_heads() == shape_.heads && !shape_.qk_norm &&
           !shape_.latent;
  }

  Tensor attention(const std::string& name, Tensor x) {
    const bool bias = shape_.attention_output_bias.value_or(shape_.bias);
    if (shape_.latent) {
      x = latent_attention(name, x, *shape_.latent);
      return run_.linear(name + ".out_proj", x, tokens_,
                         shape_.heads * std::int64_t{shape_.latent->value_head}, hidden_, bias);
    }
    const std::int64_t head = shape_.size_of_head();
    x = is_packed() ? packed_attention(name, x, head) : attention_of_three(name, x, head);
    return run_.linear(name + ".out_proj", x, tokens_, shape_.heads * head, hidden_, bias);
  }

  Tensor packed_attention(const std::string& name, Tensor x, std::int64_t head) {
    const auto qkv = run_.linear(name + ".in_proj", x, tokens_, hidden_, 3 * shape_.heads * head,
                                 shape_.qkv_bias.value_or(shape_.bias));
    return run_.attention(name + ".sdpa", {qkv}, {shape_.heads, shape_.heads, tokens_, head, true});
  }

  /// As Llama has it: three projections, fewer heads of keys and values, rotary positions.
  Tensor attention_of_three(const std::string& name, Tensor x, std::int64_t head) {
    const bool bias = shape_.qkv_bias.value_or(shape_.bias);
    const auto heads = kv_heads();
    auto q = run_.linear(name + ".query", x, tokens_, hidden_, shape_.heads * head, bias);
    auto k = run_.linear(name + ".key", x, tokens_, hidden_, heads * head, bias);
    const auto v = run_.linear(name + ".value", x, tokens_, hidden_, heads * head, bias);
    if (shape_.qk_norm) {
      q = run_.rms_norm(name + ".query_norm", q, tokens_ * shape_.heads, head);
      k = run_.rms_norm(name + ".key_norm", k, tokens_ * heads, head);
    }
    if (shape_.positions == DecoderShape::Positions::rotary) {
      q = turned(name + ".rotary_query", q, shape_.heads, head);
      k = turned(name + ".rotary_key", k, heads, head);
    }
    return run_.attention(name + ".sdpa", {q, k, v}, {shape_.heads, heads, tokens_, head, true});
  }

  /// By rotary positions, as many elements of each head as have them.
  Tensor turned(const std::string& name, Tensor x, std::int64_t heads, std::int64_t head) {
    const std::int64_t size = shape_.rotary_size > 0 ? shape_.rotary_size : head;
    const auto factors = static_cast<double>(tokens_ * size);
    if (size == head) return run_.rotary(name, x, factors);
    const auto rows = tokens_ * heads;
    const auto parts = run_.split(x, rows, {size, head - size});
    return run_.join(run_.rotary(name, parts[0], factors), parts[1], rows, head);
  }

  Tensor latent_attention(const std::string& name, Tensor x, const LatentAttention& latent) {
    const std::int64_t heads = shape_.heads;
    const std::int64_t head = latent.plain_head + latent.rotary_head;
    const std::int64_t values = latent.value_head;
    const auto rows = tokens_ * heads;
    const auto factors = static_cast<double>(tokens_ * latent.rotary_head);
    auto q = x;
    if (latent.q_rank > 0) {
      q = run_.linear(name + ".query_down", q, tokens_, hidden_, latent.q_rank, false);
      q = run_.rms_norm(name + ".query_norm", q, tokens_, latent.q_rank);
    }
    q = run_.linear(name + ".query_up", q, tokens_, latent.q_rank > 0 ? latent.q_rank : hidden_, heads * head,
                    false);
    const auto q_parts = run_.split(q, rows, {latent.plain_head, latent.rotary_head});
    q = run_.join(q_parts[0], run_.rotary(name + ".rotary_query", q_parts[1], factors), rows, head);

    const auto down =
        run_.linear(name + ".kv_down", x, tokens_, hidden_, latent.kv_rank + latent.rotary_head, false);
    const auto down_parts = run_.split(down, tokens_, {latent.kv_rank, latent.rotary_head});
    auto kv = run_.rms_norm(name + ".kv_norm", down_parts[0], tokens_, latent.kv_rank);
    kv = run_.linear(name + ".kv_up", kv, tokens_, latent.kv_rank, heads * (latent.plain_head + values),
                     false);
    const auto kv_parts = run_.split(kv, rows, {latent.plain_head, values});
    const auto turned_key = run_.rotary(name + ".rotary_key", down_parts[1], factors);
    const auto k = run_.join(kv_parts[0], turned_key, rows, head);
    return run_.attention(name + ".sdpa", {q, k, kv_parts[1]},
                          {heads, heads, tokens_, head, true, true, values});
  }

  /// An MLP or experts.
  Tensor fed_forward(const std::string& name, Tensor x, int layer) {
    if (shape_.experts && layer >= shape_.experts->dense_layers)
      return experts(name + ".experts", x, *shape_.experts);
    return mlp(name + ".mlp", x, shape_.mlp);
  }

  bool is_gated() const {
    return shape_.activation == DecoderShape::Activation::swiglu ||
           shape_.activation == DecoderShape::Activation::geglu;
  }
  std::string_view function() const {
    return shape_.activation == DecoderShape::Activation::swiglu ? "silu" : "gelu";
  }

  Tensor activation(const std::string& name, Tensor x) {
    if (shape_.activation == DecoderShape::Activation::relu) return run_.relu(name + ".relu", x);
    return run_.activation(fmt::format("{}.{}", name, function()), function(), x);
  }

  Tensor mlp(const std::string& name, Tensor x, std::int64_t width) {
    const bool bias = shape_.mlp_bias.value_or(shape_.bias);
    if (is_gated()) {
      const auto gate = run_.linear(name + ".gate", x, tokens_, hidden_, width, bias);
      const auto act = activation(name, gate);
      const auto up = run_.linear(name + ".up", x, tokens_, hidden_, width, bias);
      x = run_.multiply(name + ".product", act, up);
    } else {
      x = activation(name, run_.linear(name + ".fc1", x, tokens_, hidden_, width, bias));
    }
    return run_.linear(name + ".fc2", x, tokens_, width, hidden_, bias);
  }

  /// Each token goes through the `top_k` experts that its router finds best, as many to each expert.
  Tensor experts(const std::string& name, Tensor x, const Experts& experts) {
    const std::int64_t number = experts.number;
    const std::int64_t width = experts.mlp;
    const auto rows = tokens_ * experts.top_k;
    auto logits = run_.linear(name + ".router", x, tokens_, hidden_, number, experts.router_bias);
    const auto shares = run_.top_k(name + ".top_k", logits, tokens_, number, experts.top_k);
    auto y = run_.dispatch(name + ".dispatch", x, tokens_, hidden_, experts.top_k);
    y = run_.grouped_linear(name + ".fc1", y, rows, hidden_, is_gated() ? 2 * width : width, number);
    if (is_gated()) {
      const auto parts = run_.split(y, rows, {width, width});
      y = run_.multiply(name + ".product", activation(name, parts[0]), parts[1]);
    } else {
      y = activation(name, y);
    }
    y = run_.grouped_linear(name + ".fc2", y, rows, width, hidden_, number);
    y = run_.combine(name + ".combine", y, shares, tokens_, hidden_);
    if (experts.shared == 0) return y;
    auto always = mlp(name + ".shared", x, experts.shared * width);
    if (experts.shared_gate) {
      const auto share = run_.linear(name + ".shared.share", x, tokens_, hidden_, 1, false);
      // tanh stands for the sigmoid: the same traffic
      always = run_.multiply(name + ".shared.scaled", always,
                             run_.activation(name + ".shared.sigmoid", "tanh", share));
    }
    return run_.add(name + ".sum", y, always);
  }

  Eager& run_;
  const DecoderShape& shape_;
  std::int64_t tokens_;
  std::int64_t hidden_;
};

}  // namespace

ForwardPass decoder(const DecoderShape& shape) {
  return [shape](Eager& run) { DecoderPass{run, shape}.all(); };
}

}  // namespace gradway
