// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/decoder.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "sim/workload/eager/eager.hpp"

namespace gradway {
namespace {

/// The forward pass of a decoder.
class DecoderPass {
  using Split = Eager::Split;

 public:
  DecoderPass(Eager& run, const DecoderShape& shape, std::int64_t tokens)
      : run_{run}, shape_{shape}, tokens_{tokens}, own_{run.own_tokens(tokens_)}, hidden_{shape.hidden} {}

  void all() {
    const bool learned = shape_.positions == DecoderShape::Positions::learned;
    auto vocabulary = shape_.padded_vocabulary();
    // Megatron-Core's make_vocab_size_divisible_by times the number of ranks
    const std::int64_t multiple = std::int64_t{128} * run_.tensor_ranks();
    if (run_.packs_projections() && run_.tensor_ranks() > 1)
      vocabulary = (vocabulary + multiple - 1) / multiple * multiple;
    std::vector<Tensor> encoded_parts;
    if (shape_.tower) encoded_parts.push_back(encoded("tower", *shape_.tower));
    if (shape_.sound_tower) encoded_parts.push_back(encoded("sound_tower", *shape_.sound_tower));
    auto x = run_.from_ranks(run_.embedding("wte", tokens_, run_.share(vocabulary), hidden_));
    for (const auto part : encoded_parts) x = run_.add("wte.encoded", x, part);
    if (shape_.embedding_norm) x = run_.layer_norm("wte_norm", x, own_, hidden_, shape_.bias);
    if (learned) {
      const std::int64_t rows = shape_.position_rows > 0 ? shape_.position_rows : shape_.sequence;
      x = run_.add_parameters("wpe", x, {{"wpe.weight", {rows, hidden_}}});
    }
    x = dropped("wte.dropout", x);
    for (int i = 0; i < shape_.layers; ++i) x = block(fmt::format("h.{}", i), x, i);
    x = norm("ln_f", x);
    if (shape_.masked_lm) {
      x = run_.linear("transform.dense", x, own_, hidden_, hidden_, false);
      x = norm("transform.norm", run_.activation("transform.gelu", "gelu", x));
    }
    x = run_.linear("lm_head", run_.to_ranks(x), tokens_, hidden_, vocabulary, shape_.output_bias,
                    shape_.tied_output, Split::outputs);
    if (shape_.soft_cap) x = run_.soft_cap("lm_head.soft_cap", x);
    run_.cross_entropy("loss", x, tokens_, vocabulary, true);
  }

 private:
  /// The tokens of images or sound. @param name of the tower's layers
  Tensor encoded(const std::string& name, const Tower& tower) {
    const DecoderShape blocks{
        .layers = tower.layers,
        .heads = tower.heads,
        .hidden = tower.hidden,
        .mlp = tower.mlp,
        .norm = tower.llama ? DecoderShape::Norm::rms_norm : DecoderShape::Norm::layer_norm,
        .positions = tower.rotary ? DecoderShape::Positions::rotary : DecoderShape::Positions::learned,
        .activation = tower.llama ? DecoderShape::Activation::swiglu : DecoderShape::Activation::gelu,
        .window = tower.window,
        .full_every = tower.full_every,
        .masked_lm = true};
    const auto joined = [&] { return DecoderPass{run_, blocks, tower.patches}.joined(name, tower, hidden_); };
    return tower.frozen ? run_.without_gradients(joined) : joined();
  }

  /// Whisper's convolutions, each with GELU, and its sines as positions, which are not trained.
  Tensor frames_convolved(const std::string& name, const Tower& tower) {
    const auto frames = 2 * tokens_;
    auto x = run_.input(static_cast<double>(frames) * tower.patch_inputs);
    x = run_.conv1d(name + ".conv1", x, tower.patch_inputs, hidden_, 3, 1, frames);
    x = run_.activation(name + ".conv1.gelu", "gelu", x);
    x = run_.conv1d(name + ".conv2", x, hidden_, hidden_, 3, 2, frames);
    return run_.scaled(run_.activation(name + ".conv2.gelu", "gelu", x));
  }

  Tensor patches_embedded(const std::string& name, const Tower& tower) {
    auto x = run_.input(static_cast<double>(tokens_) * tower.patch_inputs);
    x = run_.linear(name + ".patches", x, tokens_, tower.patch_inputs, hidden_, false);
    if (tower.rotary) return x;
    return run_.add_parameters(name + ".positions", x, {{name + ".positions.weight", {tokens_, hidden_}}});
  }

  /// @param width of the text
  Tensor joined(const std::string& name, const Tower& tower, std::int64_t width) {
    const bool is_sound = name == "sound_tower";
    auto x = is_sound ? frames_convolved(name, tower) : patches_embedded(name, tower);
    for (int i = 0; i < tower.layers; ++i) x = block(fmt::format("{}.{}", name, i), x, i);
    x = norm(name + ".norm", x);
    const auto rows = tokens_ / tower.join;
    if (tower.averaged) {
      x = run_.mean(name + ".join.mean", x, static_cast<double>(rows * hidden_));
      return run_.linear(name + ".join", x, rows, hidden_, width);
    }
    const auto inner = tower.join > 1 && !is_sound ? hidden_ * tower.join : width;
    x = run_.linear(name + ".join.fc1", x, rows, hidden_ * tower.join, inner, !is_sound);
    x = run_.activation(name + ".join.gelu", "gelu", x);
    return run_.linear(name + ".join.fc2", x, rows, inner, width, !is_sound);
  }

  Tensor dropped(const std::string& name, Tensor x) { return shape_.dropout ? run_.dropout(name, x) : x; }

  Tensor norm(const std::string& name, Tensor x) {
    return shape_.norm == DecoderShape::Norm::rms_norm ? run_.rms_norm(name, x, own_, hidden_)
                                                       : run_.layer_norm(name, x, own_, hidden_, shape_.bias);
  }

  bool has_norm(DecoderShape::NormPlacement placement) const {
    return shape_.norm_placement == placement || shape_.norm_placement == DecoderShape::NormPlacement::both;
  }
  Tensor norm_before(const std::string& name, Tensor x) {
    return has_norm(DecoderShape::NormPlacement::before) ? norm(name, x) : x;
  }
  /// @param is_apart the projection after it does not do it itself (Transformer Engine's LayerNormLinear)
  Tensor separate_norm(const std::string& name, Tensor x, bool is_apart, OffloadedModule module) {
    const auto before = [&] { return norm_before(name, x); };
    if (!is_apart) return before();
    return run_.offloading(module, [&] { return run_.module(RecomputedModule::layernorm, before); });
  }
  Tensor norm_after(const std::string& name, Tensor x) {
    return has_norm(DecoderShape::NormPlacement::after) ? norm(name, x) : x;
  }

  Tensor block(const std::string& name, Tensor x, int layer) {
    const auto residual = x;
    auto normed = separate_norm(name + (is_packed() ? ".ln_1" : ".attention_norm"), x,
                                shape_.latent.has_value(), OffloadedModule::attn_norm);
    // Each rank computes the latent vectors of its own tokens, which are gathered instead.
    if (!shape_.latent) normed = run_.to_ranks(normed);
    x = attention(name + ".attention", normed, layer);
    if (shape_.blocks == DecoderShape::Blocks::sequential) {
      x = norm_after(name + ".attention.post_norm", run_.from_ranks(x));
      x = run_.add(name + ".attention.residual", residual, dropped(name + ".attention.dropout", x));
      const auto fed = norm_after(
          name + ".mlp.post_norm",
          fed_forward(name, separate_norm(name + ".ln_2", x, has_experts(layer), OffloadedModule::mlp_norm),
                      layer));
      return run_.add(name + ".mlp.residual", x, dropped(name + ".mlp.dropout", fed));
    }
    const bool one_norm = shape_.blocks == DecoderShape::Blocks::parallel_one_norm;
    const auto read = one_norm ? normed : run_.to_ranks(norm(name + ".ln_2", residual));
    const auto fed = has_experts(layer) ? experts(name + ".experts", read, *shape_.experts)
                                        : mlp(name + ".mlp", read, shape_.mlp);
    return run_.add(name + ".mlp.residual", residual,
                    dropped(name + ".dropout", run_.from_ranks(run_.add(name + ".parallel", fed, x))));
  }

  static bool is_nth(int layer, int every) { return every > 0 && (layer + 1) % every == 0; }
  /// Whether a layer's attention reads all tokens.
  bool is_full(int layer) const {
    return shape_.full_every > 0 ? is_nth(layer, shape_.full_every) : shape_.window == 0 && !shape_.linear;
  }

  std::int64_t kv_heads() const { return shape_.kv_heads > 0 ? shape_.kv_heads : shape_.heads; }
  /// Whether queries, keys and values have one projection, as in GPT-2.
  bool is_packed() const {
    return shape_.positions == DecoderShape::Positions::learned &&
           shape_.norm == DecoderShape::Norm::layer_norm && kv_heads() == shape_.heads &&
           shape_.qk_norm == DecoderShape::QkNorm::none && !shape_.latent &&
           shape_.packed != DecoderShape::Packed::none;
  }

  Tensor attention(const std::string& name, Tensor x, int layer) {
    run_.set_role(LayerRole::attention);
    x = shape_.linear && !is_full(layer) ? linear_attention(name, x, *shape_.linear)
                                         : attended(name, x, layer);
    run_.set_role(LayerRole::other);
    return x;
  }

  Tensor linear_attention(const std::string& name, Tensor x, const LinearAttention& shape) {
    const auto keys = std::int64_t{shape.key_heads} * shape.key_head;
    const auto values = std::int64_t{shape.value_heads} * shape.value_head;
    const auto projected =
        run_.linear(name + ".in_proj_qkvz", x, tokens_, hidden_, 2 * keys + 2 * values, false);
    const auto gates =
        run_.linear(name + ".in_proj_ba", x, tokens_, hidden_, std::int64_t{2} * shape.value_heads, false);
    const auto views = run_.split(projected, tokens_, {2 * keys + values, values});
    auto y = run_.delta_net(
        name + ".delta", views[0], gates,
        {tokens_, shape.key_heads, shape.value_heads, shape.key_head, shape.value_head, shape.convolution});
    y = run_.rms_norm(name + ".norm", y, tokens_ * shape.value_heads, shape.value_head);
    y = run_.multiply(name + ".gated", y, run_.activation(name + ".silu", "silu", views[1]));
    return run_.linear(name + ".out_proj", y, tokens_, values, hidden_, false);
  }

  Tensor attended(const std::string& name, Tensor x, int layer) {
    const bool bias = shape_.attention_output_bias.value_or(shape_.bias);
    const std::int64_t head = shape_.latent ? shape_.latent->value_head : shape_.size_of_head();
    x = shape_.latent ? latent_attention(name, x, *shape_.latent)
        : is_packed() ? packed_attention(name, x, head, layer)
                      : separate_attention(name, x, head, layer);
    return run_.offloading(OffloadedModule::attn_proj, [&] {
      return run_.linear(name + ".out_proj", x, tokens_, shape_.heads * head, hidden_, bias, false,
                         Split::inputs);
    });
  }

  Tensor core_attention(const std::string& name, const std::vector<Tensor>& inputs,
                        const Eager::Attention& shape) {
    return run_.offloading(OffloadedModule::core_attn,
                           [&] { return run_.attention(name + ".sdpa", inputs, shape); });
  }

  Eager::Attention attention_of(std::int64_t kv, std::int64_t head, int layer) const {
    return {.heads = run_.share(shape_.heads),
            .kv_heads = kv,
            .tokens = tokens_,
            .head_size = head,
            .causal = !shape_.masked_lm,
            .dropout = shape_.attention_dropout.value_or(shape_.dropout),
            .window = is_full(layer) ? 0 : shape_.window,
            .sinks = shape_.sinks};
  }

  Tensor packed_attention(const std::string& name, Tensor x, std::int64_t head, int layer) {
    const auto qkv = run_.offloading(OffloadedModule::qkv_linear, [&] {
      return run_.linear(name + ".in_proj", x, tokens_, hidden_, std::int64_t{3} * shape_.heads * head,
                         shape_.qkv_bias.value_or(shape_.bias), false, Split::outputs);
    });
    return core_attention(name, {qkv}, attention_of(run_.share(shape_.heads), head, layer));
  }

  /// Attention as in Llama: three projections, possibly fewer heads of keys and values, rotary positions.
  Tensor separate_attention(const std::string& name, Tensor x, std::int64_t head, int layer) {
    const auto heads = run_.share(shape_.heads);
    // With fewer heads of keys than ranks, each rank has one, which is replicated.
    const auto ranks = run_.tensor_ranks();
    const auto kv = std::max<std::int64_t>(1, kv_heads() / ranks);
    const auto gates = shape_.attention_gate ? heads * head : 0;
    auto [q, k, v] = projections(name, x, heads * head + gates, kv * head);
    Tensor gate;
    if (gates > 0) {
      const auto views = run_.split(q, tokens_, {heads * head, gates});
      q = views[0];
      gate = views[1];
    }
    q = query_norm(name + ".query_norm", q, heads, head);
    k = query_norm(name + ".key_norm", k, kv, head);
    const bool rotates =
        shape_.positions == DecoderShape::Positions::rotary && !is_nth(layer, shape_.no_rotary_every);
    if (rotates) {
      q = rotated(name + ".rotary_query", q, heads, head);
      k = rotated(name + ".rotary_key", k, kv, head);
    }
    auto y = core_attention(name, {q, k, v}, attention_of(kv, head, layer));
    // Joined queries are ordered by head, and so is the result.
    if (rotates && joins_heads(head)) y = run_.contiguous(y);
    // tanh has the same memory traffic as the sigmoid
    if (gates > 0) y = run_.multiply(name + ".gated", y, run_.activation(name + ".sigmoid", "tanh", gate));
    return y;
  }

  Tensor query_norm(const std::string& name, Tensor x, std::int64_t heads, std::int64_t head) {
    if (shape_.qk_norm == DecoderShape::QkNorm::none) return x;
    const bool together = shape_.qk_norm == DecoderShape::QkNorm::all_heads;
    return run_.rms_norm(name, x, together ? tokens_ : tokens_ * heads, together ? heads * head : head);
  }

  /// Queries, keys and values from one product or three. @param queries, keys elements per rank and token
  std::array<Tensor, 3> projections(const std::string& name, Tensor x, std::int64_t queries,
                                    std::int64_t keys) {
    const bool bias = shape_.qkv_bias.value_or(shape_.bias);
    const auto project = [&](const char* suffix, std::int64_t width) {
      return run_.offloading(OffloadedModule::qkv_linear, [&] {
        return run_.linear(name + suffix, x, tokens_, hidden_, run_.tensor_ranks() * width, bias, false,
                           Split::outputs);
      });
    };
    if (!packs()) return {project(".query", queries), project(".key", keys), project(".value", keys)};
    const auto packed = project(".in_proj", queries + 2 * keys);
    const bool is_sliced = run_.is_hugging_face() && shape_.packed == DecoderShape::Packed::sliced;
    const auto views = is_sliced ? run_.slices(packed, tokens_, {queries, keys, keys})
                                 : run_.split(packed, tokens_, {queries, keys, keys});
    return {views[0], views[1], views[2]};
  }

  /// Whether queries, keys and values, and both inputs of a gated MLP, have one projection.
  bool packs() const {
    return run_.packs_projections() || (run_.is_hugging_face() && is_packed_by_transformers());
  }
  bool is_packed_by_transformers() const {
    return shape_.packed.value_or(DecoderShape::Packed::none) != DecoderShape::Packed::none;
  }

  /// Whether transformers joins the rotated part of a head with the rest of it.
  bool joins_heads(std::int64_t head) const {
    const bool is_partial = shape_.rotary_size > 0 && shape_.rotary_size < head;
    return run_.is_hugging_face() && (is_partial || shape_.packed == DecoderShape::Packed::sliced);
  }

  /// Applies rotary positions to the elements of each head that have them.
  Tensor rotated(const std::string& name, Tensor x, std::int64_t heads, std::int64_t head) {
    const std::int64_t size = shape_.rotary_size > 0 ? shape_.rotary_size : head;
    const auto factors = static_cast<double>(tokens_ * size);
    if (size == head && !joins_heads(head)) return run_.rotary(name, x, factors);
    const auto rows = tokens_ * heads;
    const std::vector<std::int64_t> widths{size, head - size};
    const auto views = run_.is_hugging_face() ? run_.slices(x, rows, widths) : run_.split(x, rows, widths);
    return run_.join(run_.rotary(name, views[0], factors), views[1], rows, head);
  }

  /// @param x the rank's own tokens. Projections to latent vectors are replicated on tensor-parallel ranks,
  ///        those to heads are split. @source Megatron-Core, transformer/multi_latent_attention.py
  Tensor latent_attention(const std::string& name, Tensor x, const LatentAttention& latent) {
    const std::int64_t heads = run_.share(shape_.heads);
    const std::int64_t head = latent.plain_head + latent.rotary_head;
    const std::int64_t values = latent.value_head;
    const auto rows = tokens_ * heads;
    const auto factors = static_cast<double>(tokens_ * latent.rotary_head);
    const auto to_heads = [&](const char* suffix, Tensor of_tokens, std::int64_t width,
                              std::int64_t of_head) {
      return run_.linear(name + suffix, run_.to_ranks(of_tokens), tokens_, width, shape_.heads * of_head,
                         false, false, Split::outputs);
    };
    auto q = x;
    Tensor v;
    const auto k = run_.offloading(OffloadedModule::qkv_linear, [&] {
      if (latent.q_rank > 0) q = run_.linear(name + ".query_down", q, own_, hidden_, latent.q_rank, false);
      q = run_.module(RecomputedModule::mla_up_proj, [&] {
        if (latent.q_rank > 0) q = run_.rms_norm(name + ".query_norm", q, own_, latent.q_rank);
        q = to_heads(".query_up", q, latent.q_rank > 0 ? latent.q_rank : hidden_, head);
        const auto q_parts = run_.split(q, rows, {latent.plain_head, latent.rotary_head});
        return run_.join(q_parts[0], run_.rotary(name + ".rotary_query", q_parts[1], factors), rows, head);
      });

      const auto down =
          run_.linear(name + ".kv_down", x, own_, hidden_, latent.kv_rank + latent.rotary_head, false);
      const auto down_parts = run_.split(down, own_, {latent.kv_rank, latent.rotary_head});
      return run_.module(RecomputedModule::mla_up_proj, [&] {
        auto kv = run_.rms_norm(name + ".kv_norm", down_parts[0], own_, latent.kv_rank);
        kv = to_heads(".kv_up", kv, latent.kv_rank, latent.plain_head + values);
        const auto kv_parts = run_.split(kv, rows, {latent.plain_head, values});
        v = kv_parts[1];
        const auto rotated_key = run_.rotary(name + ".rotary_key", run_.to_ranks(down_parts[1]), factors);
        return run_.join(kv_parts[0], rotated_key, rows, head);
      });
    });
    auto shape = attention_of(heads, head, 0);
    shape.value_size = values;
    return core_attention(name, {q, k, v}, shape);
  }

  bool has_experts(int layer) const {
    return shape_.experts && layer >= shape_.experts->dense_layers && is_nth(layer, shape_.experts->every);
  }

  /// An MLP, or experts, which read each rank's own tokens.
  Tensor fed_forward(const std::string& name, Tensor x, int layer) {
    if (has_experts(layer))
      return run_.module(RecomputedModule::moe,
                         [&] { return experts(name + ".experts", x, *shape_.experts); });
    return run_.module(RecomputedModule::mlp,
                       [&] { return run_.from_ranks(mlp(name + ".mlp", run_.to_ranks(x), shape_.mlp)); });
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
    if (shape_.activation == DecoderShape::Activation::gelu_new) return run_.gelu_new(name + ".gelu", x);
    if (shape_.activation == DecoderShape::Activation::relu_squared) {
      x = run_.relu(name + ".relu", x);  // the square is part of its kernel unless transformers writes it out
      return run_.is_hugging_face() && !run_.is_compiled() ? run_.multiply(name + ".square", x, x) : x;
    }
    return run_.activation(fmt::format("{}.{}", name, function()), function(), x);
  }

  /// The activation of one half of x times the other half. @param width of a half
  Tensor gated(const std::string& name, Tensor x, std::int64_t rows, std::int64_t width) {
    if (run_.fuses_activation()) return run_.gated_halves(name + ".product", x);
    const auto halves = run_.split(x, rows, {width, width});
    return run_.multiply(name + ".product", activation(name, halves[0]), halves[1]);
  }

  Tensor mlp(const std::string& name, Tensor x, std::int64_t width) {
    const bool bias = shape_.mlp_bias.value_or(shape_.bias);
    const auto project = [&](const char* suffix, std::int64_t outputs) {
      return run_.linear(name + suffix, x, tokens_, hidden_, outputs, bias, false, Split::outputs);
    };
    const bool adds_bias = bias && run_.adds_bias_separately();
    if (is_gated() && packs()) {
      x = project(".fc1", 2 * width);
      x = gated(name, adds_bias ? run_.add_bias(x) : x, tokens_, run_.share(width));
    } else if (is_gated()) {
      auto gate = project(".gate", width);
      if (!run_.is_compiled()) gate = activation(name, gate);
      const auto up = project(".up", width);
      if (run_.is_compiled()) gate = activation(name, gate);  // fused with the multiplication
      x = run_.multiply(name + ".product", gate, up);
    } else {
      x = project(".fc1", width);
      x = activation(name, adds_bias ? run_.add_bias(x) : x);
    }
    return run_.linear(name + ".fc2", x, tokens_, width, hidden_, bias, false, Split::inputs);
  }

  /// Each token is processed by the `top_k` best experts of its router; all experts get equally many tokens.
  Tensor experts(const std::string& name, Tensor x, const Experts& experts) {
    const std::int64_t number = experts.number;
    const std::int64_t width = experts.mlp;
    const auto routed = run_.routed_rows(own_, number, experts.top_k);
    const auto rows = run_.rows_of_experts(routed);
    const auto own_experts = run_.own_experts(number);
    run_.set_role(LayerRole::router);
    auto logits = run_.linear(name + ".router", x, own_, hidden_, number, experts.router_bias);
    run_.set_role(LayerRole::top_k);
    auto shares = run_.top_k(name + ".top_k", logits, own_, number, experts.top_k);
    run_.set_role(LayerRole::dispatch);
    auto y = run_.dispatch(name + ".dispatch", x, routed, hidden_, number);
    run_.set_role(LayerRole::experts);
    y = run_.to_experts(y, routed, hidden_, number);
    shares = run_.shares_to_experts(shares, routed);
    y = run_.offloading(OffloadedModule::expert_fc1, [&] {
      return run_.grouped_linear(name + ".fc1", y, rows, hidden_, is_gated() ? 2 * width : width, own_experts,
                                 Split::outputs, experts.bias);
    });
    // Only gpt-oss has biases of experts, and it clamps what its activation reads.
    y = run_.offloading(OffloadedModule::moe_act, [&] {
      return run_.module(RecomputedModule::moe_act, [&] {
        if (experts.bias && run_.fuses_activation() && !run_.fuses_experts()) y = run_.clamped_halves(y);
        return run_.weighted_rows(
            is_gated() ? gated(name, y, rows, run_.share_of_expert(width)) : activation(name, y), shares);
      });
    });
    y = run_.grouped_linear(name + ".fc2", y, rows, width, hidden_, own_experts, Split::inputs, experts.bias);
    if (experts.bias && run_.adds_expert_biases()) y = run_.add_weighted_biases(y, own_experts);
    y = run_.from_experts(y, routed, hidden_, number);
    y = run_.combine(name + ".combine", y, shares, own_, hidden_);
    if (experts.shared > 0) {
      const auto always =
          run_.module(RecomputedModule::shared_experts, [&] { return shared_experts(name, x, experts); });
      y = run_.add(name + ".sum", y, always);
    }
    run_.set_role(LayerRole::other);
    return y;
  }

  Tensor shared_experts(const std::string& name, Tensor x, const Experts& experts) {
    auto always = run_.from_ranks(mlp(name + ".shared", run_.to_ranks(x), experts.shared_width()));
    if (experts.shared_gate) {
      const auto share = run_.linear(name + ".shared.share", x, own_, hidden_, 1, false);
      // tanh has the same memory traffic as the sigmoid
      always = run_.multiply(name + ".shared.scaled", always,
                             run_.activation(name + ".shared.sigmoid", "tanh", share));
    }
    return always;
  }

  Eager& run_;
  const DecoderShape& shape_;
  std::int64_t tokens_;
  std::int64_t own_;  ///< tokens of a rank between products (sequence parallelism)
  std::int64_t hidden_;
};

}  // namespace

ForwardPass decoder(const DecoderShape& shape) {
  return [shape](Eager& run) { DecoderPass{run, shape, run.tokens(shape.sequence)}.all(); };
}

}  // namespace gradway
