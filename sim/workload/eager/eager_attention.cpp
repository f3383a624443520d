// SPDX-License-Identifier: Apache-2.0
// Attention, and the operations that prepare its inputs.
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "sim/base/contract.hpp"
#include "sim/workload/attention_choice.hpp"
#include "sim/workload/eager/eager.hpp"

namespace gradway {

namespace {

/// Time of fused attention with dropout, as a multiple of that without: its kernels draw a random number per
/// score. @source own measurement on an H200, 2026-11-26, PyTorch 2.11: 14 shapes per kernel, heads of 64 to
/// 256 elements, 512 to 4096 tokens; cuDNN forward 1.95 to 3.1, backward 1.1 to 1.5; flash 1.2 to 1.3
/// and 1.05 to 1.2; efficient 1.3 to 1.95 and 1.0 to 1.7. These are medians
double slowdown_of_dropout(AttentionKernel kernel, std::string_view direction) {
  const bool is_forward = direction == "forward";
  if (kernel == AttentionKernel::cudnn) return is_forward ? 2.3 : 1.28;
  if (kernel == AttentionKernel::efficient) return is_forward ? 1.82 : 1.45;
  return is_forward ? 1.27 : 1.12;
}

/// Time of fused attention that reads a mask, as a multiple of attention to all tokens without one. @source
/// own measurement on an H200, 2026-11-26, PyTorch 2.11, cuDNN: 1.67 to 1.93 for heads of 64 to 128 elements
constexpr double slowdown_of_mask = 1.8;

/// Speed of cuDNN's attention in fp8 over that in bf16, by the generation, pass and size of the heads.
/// Blackwell's exponentials, which bound small heads, did not become faster with its products; those of 10.3
/// (B300, GB300) did.
/// @source github.com/NVIDIA/cudnn-frontend, benchmark/sdpa_benchmark_training/results, cuDNN 9.19 and 9.22,
///         causal, 4,096 to 32,768 tokens. Heads of 128 (Llama 3.1): GB200 1.24 to 1.28 forward and 1.09 to
///         1.16 backward, GB300 1.39 to 1.55 and 1.10 to 1.20, H200 1.44 to 1.51 and 0.64 to 0.99. Heads of
///         192, values of 128 (DeepSeek V3): GB200 1.42 to 1.51 and 1.60 to 1.74, GB300 1.69 to 1.75 and 1.73
///         to 1.89. Heads of 64 with windows: GB200 1.03 forward, GB300 1.2; backward, of all causal scores
///         (776 and 928 TFLOP/s for 4,096 tokens), 1.2 and 1.4
double speed_of_fp8(int capability, std::string_view direction, std::int64_t head) {
  constexpr int b300 = 103;
  const bool is_forward = direction == "forward";
  if (capability < 100) return is_forward ? 1.49 : 0.8;
  const bool has_faster_exponentials = capability >= b300;
  const auto choice = [&](double forward, double backward) { return is_forward ? forward : backward; };
  if (head < 128) return has_faster_exponentials ? choice(1.2, 1.4) : choice(1.03, 1.2);
  if (head > 128) return has_faster_exponentials ? choice(1.7, 1.8) : choice(1.48, 1.67);
  return has_faster_exponentials ? choice(1.47, 1.15) : choice(1.25, 1.13);
}

/// The length of causal samples in which a token has as many keys, on average, as in a sample of `tokens`
/// with a window: all tokens together have tokens * window - window^2 / 2 keys.
double tokens_with_all_keys(std::int64_t window, double tokens) {
  const auto wide = static_cast<double>(window);
  return window == 0 || wide >= tokens ? tokens : 2 * wide - wide * wide / tokens;
}

}  // namespace

Tensor Eager::attention(const std::string& name, const std::vector<Tensor>& qkv, const Attention& shape) {
  expects(qkv.size() == 1 || qkv.size() == 3, "attention needs one packed tensor or three tensors");
  open(name,
       shape.sinks ? std::vector<Parameter>{{name + ".sinks", {shape.heads}}} : std::vector<Parameter>{});
  auto inputs = qkv;
  if (casts())  // autocast casts what Python code computed in fp32
    for (auto& input : inputs) input = cast(input, half_number());
  if (settings_.context == 1 || shares_tokens()) return attend(inputs, shape);
  // An all-to-all gives each rank all tokens of its share of the heads; another one returns its tokens.
  const auto swapped = [&](Tensor x) {
    return exchanged(contiguous(x), of(x).elements, CollectiveKind::all_to_all, CollectiveKind::all_to_all,
                     RankGroup::context);
  };
  std::vector<Tensor> exchanged_inputs;
  for (const auto input : inputs) exchanged_inputs.push_back(swapped(input));
  auto of_heads = shape;
  of_heads.tokens *= settings_.context;
  of_heads.heads /= settings_.context;
  of_heads.kv_heads /= settings_.context;
  return swapped(attend(exchanged_inputs, of_heads));
}

Tensor Eager::attend(const std::vector<Tensor>& qkv, const Attention& shape) {
  const auto number = of(qkv.front()).number;
  const auto batch = d(settings_.batch);
  const bool is_biased = shape.bias.id >= 0;
  const AttentionHead head{shape.head_size, shape.value_size > 0 ? shape.value_size : shape.head_size,
                           is_biased};
  const auto of_pytorch = automatic_attention({settings_.precision, settings_.compute_capability, head});
  // scaled_dot_product_attention knows no sinks. @source GptOssPreTrainedModel of transformers
  const bool in_python = shape.sinks && is_hugging_face();
  const auto how = settings_.attention != AttentionKernel::automatic ? settings_.attention
                   : in_python                                       ? AttentionKernel::composed
                                                                     : of_pytorch;
  attention_heads_.insert(head);
  auto& function = qkv.size() == 1 ? node({qkv[0]})
                   : is_biased     ? node({qkv[0], qkv[1], qkv[2], shape.bias})
                                   : node({qkv[0], qkv[1], qkv[2]});
  const bool in_fp8 = settings_.fp8 && settings_.fp8->attention;
  for (const auto tensor : qkv) {
    if (in_fp8) cast_for_attention(function.forward, number, of(tensor).elements);
    save(in_fp8 ? make(of(tensor).elements, Number::fp8, false) : tensor);
  }
  const auto out = make(batch * d(shape.heads * shape.tokens * head.values), number, true);
  const bool is_composed = how == AttentionKernel::composed && !settings_.megatron;
  if (how == AttentionKernel::math || how == AttentionKernel::composed) {
    if (is_composed) {
      composed_attention(shape, number, out);
    } else {
      math_attention(shape, number, out);
    }
    if (shares_tokens()) {  // attention by several kernels does not overlap exchanges
      const auto [keys, kv] = keys_and_values(shape, number);
      gather_keys(keys, kv);
    }
  } else {
    fused_attention(shape, how, number, out);
  }
  if (recomputes(RecomputedModule::core_attn)) {
    function.backward.insert(function.backward.begin(), function.forward.begin(), function.forward.end());
    for (auto& sent : function.backward_exchanges) {
      sent.at += function.forward.size();
      sent.until += function.forward.size();
    }
    function.backward_exchanges.insert(function.backward_exchanges.begin(),
                                       function.forward_exchanges.begin(), function.forward_exchanges.end());
  }
  if (shape.sinks) {
    function.backward.push_back(stream("sum", number, batch * d(shape.heads * shape.tokens)));
    add_parameter_gradient(function, d(shape.heads));
  }
  if (qkv.size() == 1 && shape.splits) {
    const auto width = 3.0 * d(shape.heads * shape.head_size);
    function.backward.push_back(rows("cat", number, batch * d(shape.tokens), width));
  }
  function.result = out;
  return out;
}

void Eager::fused_attention(const Attention& shape, AttentionKernel kernel, Number number, Tensor out) {
  const auto batch = d(settings_.batch);
  const auto queries = batch * d(shape.heads * shape.tokens * shape.head_size);
  save_for_attention(out);
  // log-sum-exp of the scores
  save_for_attention(make(batch * d(shape.heads * shape.tokens), Number::fp32, false));
  auto& function = nodes_.back();
  const bool in_fp8 = settings_.fp8 && settings_.fp8->attention;
  const bool is_masked = has_mask(shape);
  const bool repeats = repeats_heads(shape) && (is_masked || !is_hugging_face());
  if (repeats) repeat_heads(shape, number);
  const auto fused = [&](std::string_view direction, double samples, double tokens, bool causal) {
    // Queries and keys of different number have the scores of a square with their geometric mean.
    if (shape.keys > 0 && shape.keys != shape.tokens) tokens = std::sqrt(tokens * d(shape.keys));
    // In fp8 the backward pass computes the scores outside of the window, too. @source the results of
    // speed_of_fp8: on a GB200 with a window of 128 it takes 1.77 ms for 4,096 tokens, 6.29 ms for 8,192
    const bool has_window = !is_masked && !(in_fp8 && direction == "backward");
    auto chunk = has_window ? tokens_with_all_keys(shape.window, tokens) : tokens;
    // Each rank has its share of every document.
    const auto document = d(settings_.document) / (shares_tokens() ? settings_.context : 1);
    if (document > 0) chunk = std::min(chunk, document);
    auto operation_of_pass = operation(fmt::format("attention_{} {} {} {}", direction, arithmetic(),
                                                   name_of(kernel), causal && !is_masked ? "causal" : "full"),
                                       {samples * tokens / chunk, d(shape.heads), chunk, d(shape.head_size),
                                        is_masked ? 0 : d(shape.kv_heads), d(shape.value_size)});
    if (shape.dropout && !settings_.megatron)
      operation_of_pass.slowdown *= slowdown_of_dropout(kernel, direction);
    if (is_masked) operation_of_pass.slowdown *= slowdown_of_mask;
    if (in_fp8)
      operation_of_pass.slowdown /= speed_of_fp8(settings_.compute_capability, direction, shape.head_size);
    return operation_of_pass;
  };
  function.recomputed_operations = 0;
  if (in_fp8) cast_for_attention(function.backward, number, queries);  // the gradient of the output
  if (shares_tokens()) {
    auto parts = shape;
    if (repeats) parts.kv_heads = shape.heads;
    if (settings_.megatron) {
      attend_by_parts(parts, number, fused);
    } else {
      attend_by_parts_of_pytorch(parts, number, fused);
    }
  } else {
    forward(fused("forward", batch, d(shape.tokens), shape.causal));
    function.backward.push_back(fused("backward", batch, d(shape.tokens), shape.causal));
  }
  if ((kernel == AttentionKernel::flash || kernel == AttentionKernel::flash1) &&
      shape.kv_heads < shape.heads && !repeats) {
    for (int i = 0; i < 2; ++i)
      function.backward.push_back(stream("sum", number, queries));  // for keys and for values
    function.temporary_backward = 2 * queries * bytes_of(number);
  }
}

/// Casts a tensor to fp8 for attention, by the recipe of the linear layers if that has one scale per tensor,
/// else by current scaling. @source FP8 recipes of DotProductAttention: NVTE_DPA_FP8_RECIPE
void Eager::cast_for_attention(std::vector<Operation>& pass, Number from, double elements) const {
  if (settings_.fp8->recipe != Fp8Recipe::delayed) pass.push_back(stream("amax", from, elements));
  pass.push_back(stream("cast_to_8", from, elements));
}

/// Whether attention reads a mask from memory. Transformers gives scaled_dot_product_attention one if the
/// window is shorter than the sample. @source sdpa_mask and _ignore_causal_mask_sdpa in masking_utils.py
bool Eager::has_mask(const Attention& shape) const {
  return is_hugging_face() && shape.window > 0 && shape.window < shape.tokens;
}

/// Whether keys and values are copied for all heads before attention: by transformers unless a fused kernel
/// without a mask takes fewer heads, by torchtitan always, which is simulated only where ranks exchange the
/// copies.
/// @source use_gqa_in_sdpa and repeat_kv in integrations/sdpa_attention.py; repeat_kv in
///         torchtitan/models/llama3/model.py until late in 2025
bool Eager::repeats_heads(const Attention& shape) const {
  return shape.kv_heads < shape.heads && !settings_.megatron && (is_hugging_face() || shares_tokens());
}

void Eager::repeat_heads(const Attention& shape, Number number) {
  const auto elements = settings_.batch * d(shape.heads * shape.tokens * shape.head_size);
  auto& node = nodes_.back();
  for (int i = 0; i < 2; ++i) {  // keys and values
    forward(stream("permute", number, elements));
    node.backward.push_back(stream("sum", number, elements));
    save_for_attention(make(elements, number, false));
  }
}

/// Megatron's attention with the keys and values of all ranks, either gathered or passed around a ring. All
/// ranks have equal causal work, since each has one chunk of tokens from the front of the sequence and one
/// from its end. The ring starts with the rank's own part, which is causal; each further step computes half
/// of a part: all queries with the first half of the keys, or the second half of the queries, which is copied
/// like outputs and their gradients. Ranks wait for each other, so each pass has the kernels of the rank with
/// more of them. The backward pass sends keys and values around again, then with their gradients, and finally
/// the gradients alone.
/// @source TransformerEngine, context_parallel.py: AttnFuncWithCPAndKVP2P, AttnFuncWithCPAndKVAllGather
void Eager::attend_by_parts(const Attention& shape, Number number, const FusedAttention& fused) {
  constexpr auto over = RankGroup::context;
  const auto ranks = settings_.context;
  const auto batch = d(settings_.batch);
  const auto queries = batch * d(shape.heads * shape.tokens * shape.head_size);
  const auto [keys, kv] = keys_and_values(shape, number);
  auto& node = nodes_.back();
  if (settings_.context_method == ContextMethod::all_gather) {
    const auto tokens = d(shape.tokens) * ranks;
    forward(fused("forward", batch / ranks, tokens, shape.causal));
    node.backward.push_back(fused("backward", batch / ranks, tokens, shape.causal));
    gather_keys(keys, kv);
    node.temporary = (kv * ranks).value();
    node.temporary_backward = 2 * node.temporary;
    return;
  }
  const auto send = [&](std::vector<Exchange>& sent, Bytes bytes, std::size_t start, std::size_t until) {
    sent.push_back({CollectiveKind::send_recv, bytes, start, until, over});
  };
  for (int step = 0; step < ranks; ++step) {
    const bool is_own = step == 0;
    const bool is_last = step + 1 == ranks;
    const auto samples = is_own ? batch : batch / 2;
    const auto forward_at = node.forward.size();
    const auto backward_at = node.backward.size();
    const auto of_keys = kv.value() / bytes_of(number);
    if (!is_own) {
      forward(stream("copy", number, of_keys / 2));
      node.backward.push_back(stream("copy", number, 3 * queries / 2));
    }
    forward(fused("forward", samples, d(shape.tokens), is_own && shape.causal));
    node.backward.push_back(fused("backward", samples, d(shape.tokens), is_own && shape.causal));
    if (!is_own) {  // merges the output with that of the step, and adds gradients to earlier and received
                    // ones
      forward(stream("add", number, queries));
      node.backward.push_back(stream("add", number, queries / 2));
      node.backward.push_back(stream("add", number, of_keys));
    }
    if (!is_last) send(node.forward_exchanges, kv, forward_at, node.forward.size());
    const auto with_gradients = is_own || is_last ? kv : 2 * kv;
    send(node.backward_exchanges, with_gradients, backward_at,
         is_last ? backward_at + 1 : node.backward.size());
  }
  node.temporary = 2 * kv.value();
  node.temporary_backward = 4 * kv.value();
}

/// Saves a tensor for the backward pass unless attention is recomputed.
void Eager::save_for_attention(Tensor tensor) {
  if (!recomputes(RecomputedModule::core_attn)) save(tensor);
}

/// With context parallelism, each rank has its share of the scores of all tokens.
Eager::Scores Eager::scores_of(const Attention& shape) const {
  const auto ranks = shares_tokens() ? settings_.context : 1;
  Scores scores{.groups = d(shape.heads) * settings_.batch / ranks,
                .tokens = d(shape.tokens) * ranks,
                .size = d(shape.head_size)};
  scores.keys = shape.keys > 0 ? d(shape.keys) : scores.tokens;
  scores.values = shape.value_size > 0 ? d(shape.value_size) : scores.size;
  scores.all = scores.groups * scores.tokens * scores.keys;
  return scores;
}

/// Attention as separate products and a softmax, either of Megatron's modules or of PyTorch, which scales
/// queries and keys and computes 16-bit attention in fp32.
/// @source _scaled_dot_product_attention_math in aten/src/ATen/native/transformers/attention.cpp of
/// PyTorch 2.5
///         and later; own trace of T5 on an H100, 2026-11-23, PyTorch 2.11
void Eager::math_attention(const Attention& shape, Number number, Tensor out) {
  const auto [groups, tokens, size, keys, values, scores] = scores_of(shape);
  const bool widens = !settings_.megatron && number != Number::fp32;
  const auto inner = widens ? Number::fp32 : number;
  const auto bytes = bytes_of(inner);
  const std::array operands{groups * tokens * size, groups * keys * size, groups * keys * values};
  auto& node = nodes_.back();
  save_for_attention(make(scores, inner, false));  // the probabilities
  save_for_attention(out);
  const auto batched = [&](const char* layout, double m, double n, double k) {
    return operation(fmt::format("batched_product {} {}", widens ? "fp32" : arithmetic(), layout),
                     {groups, m, n, k});
  };
  const auto cast_all = [&](std::vector<Operation>& pass, const char* kernel, Number from) {
    if (!widens) return;
    for (const auto elements : operands) pass.push_back(stream(kernel, from, elements));
  };
  const auto scale_both = [&](std::vector<Operation>& pass) {
    if (settings_.megatron) return;
    for (const auto elements : {operands[0], operands[1]}) pass.push_back(stream("scale", inner, elements));
  };
  cast_all(node.forward, "cast_to_32", number);
  scale_both(node.forward);
  for (const auto elements : operands) {
    if (widens) save_for_attention(make(elements, inner, false));
  }
  forward(batched("nt", tokens, keys, size));
  // Megatron's softmax kernel includes scaling and masking.
  if (!settings_.megatron && (shape.causal || shape.bias.id >= 0)) forward(stream("add", inner, scores));
  forward(rows("softmax", inner, groups * tokens, keys));
  if (!settings_.megatron) {  // sets rows that are masked completely to zero
    forward(stream("sum", inner, scores));
    forward(stream("scale", inner, scores));
  }
  if (shape.dropout) {
    forward(stream("dropout", inner, scores));
    save_for_attention(make(scores, inner, false));
    save_for_attention(make(scores / 4, Number::fp32, false));  // the mask: a byte per element
  }
  forward(batched("nn", tokens, values, keys));
  const auto results = groups * tokens * values;
  if (widens) {
    forward(stream("cast_to_16", inner, results));
    node.backward.push_back(stream("cast_to_32", number, results));
  }
  node.backward.push_back(batched("nn", keys, values, tokens));
  node.backward.push_back(batched("nt", tokens, keys, values));
  if (shape.dropout) node.backward.push_back(stream("dropout_backward", inner, scores));
  if (!settings_.megatron) node.backward.push_back(stream("scale", inner, scores));
  node.backward.push_back(rows("softmax_backward", inner, groups * tokens, keys));
  node.backward.push_back(batched("nn", tokens, size, keys));
  node.backward.push_back(batched("nn", keys, size, tokens));
  scale_both(node.backward);
  cast_all(node.backward, "cast_to_16", inner);
  node.temporary = bytes * scores;
  node.temporary_backward = 2 * bytes * scores;
}

/// Attention written in Python: scores in the precision of the queries are scaled and masked, their softmax
/// is in fp32, and its 16-bit copy is multiplied by the values. Dropout comes before the copy under autocast,
/// else after it.
/// @source eager_attention_forward in models/bert/modeling_bert.py of
/// github.com/huggingface/transformers 4.5;
///         BertSelfAttention in PyTorch/LanguageModeling/BERT of github.com/NVIDIA/DeepLearningExamples
void Eager::composed_attention(const Attention& shape, Number number, Tensor out) {
  const auto [groups, tokens, size, keys, values, scores] = scores_of(shape);
  const bool narrows = number != Number::fp32;
  const auto dropped = casts() ? Number::fp32 : number;
  auto& node = nodes_.back();
  const auto batched = [&](const char* layout, double m, double n, double k) {
    return operation(fmt::format("batched_product {} {}", arithmetic(), layout), {groups, m, n, k});
  };
  save_for_attention(out);
  save_for_attention(make(scores, Number::fp32, false));  // the probabilities
  if (narrows) save_for_attention(make(scores, number, false));
  if (repeats_heads(shape)) repeat_heads(shape, number);
  forward(batched("nt", tokens, keys, size));
  forward(stream("scale", number, scores));
  forward(stream("add", number, scores));
  if (shape.sinks) {  // joins the sinks, subtracts the maximum, and removes the sinks from the gradient
    for (const auto* kernel : {"permute", "sum", "scale"}) forward(stream(kernel, number, scores));
    for (const auto* kernel : {"zero", "permute"}) node.backward.push_back(stream(kernel, number, scores));
  }
  forward(rows("softmax", Number::fp32, groups * tokens, keys));
  const auto narrow = stream("cast_to_16", Number::fp32, scores);
  if (narrows) forward(narrow);
  if (shape.dropout) {
    forward(stream("dropout", dropped, scores));
    if (!casts()) save_for_attention(make(scores, dropped, false));
    save_for_attention(make(scores / 4, Number::fp32, false));  // the mask: a byte per element
  }
  forward(batched("nn", tokens, values, keys));
  node.backward.push_back(batched("nn", keys, values, tokens));
  node.backward.push_back(batched("nt", tokens, keys, values));
  if (shape.dropout) node.backward.push_back(stream("dropout_backward", dropped, scores));
  if (narrows) node.backward.push_back(stream("cast_to_32", number, scores));
  node.backward.push_back(rows("softmax_backward", Number::fp32, groups * tokens, keys));
  if (narrows) node.backward.push_back(narrow);
  node.backward.push_back(stream("scale", number, scores));
  node.backward.push_back(batched("nn", tokens, size, keys));
  node.backward.push_back(batched("nn", keys, size, tokens));
  node.temporary = bytes_of(Number::fp32) * scores;
  node.temporary_backward = 2 * node.temporary;
}

Tensor Eager::rotary(const std::string& name, Tensor x, double factors) {
  if (is_hugging_face() && !settings_.compiled) return composed_rotary(name, x);
  if (settings_.megatron && !fuses_rope(settings_.fusions)) return megatron_rotary(name, x, factors);
  open(name);
  const auto number = of(x).number;
  if (settings_.megatron) {
    // The angles are fp32. @source Transformer Engine, common/fused_rope/fused_rope.cu
    const auto elements = of(x).elements;
    const auto turn =
        stream("scale", number, elements + factors * bytes_of(Number::fp32) / 2 / bytes_of(number));
    auto& function = node({x});
    forward(turn);
    function.backward.push_back(turn);
    return make(elements, number, true);
  }
  x = cast(x, Number::fp32);
  const auto elements = of(x).elements;
  const auto turn = operation("elementwise complex_mul fp32", {elements, factors});
  auto& function = node({x});
  forward(turn);
  function.backward.push_back(turn);
  return cast(make(elements, Number::fp32, true), number);
}

std::vector<Tensor> Eager::split(Tensor x, std::int64_t rows_of_sample,
                                 const std::vector<std::int64_t>& widths) {
  const auto m = d(rows_of_sample) * settings_.batch;
  const auto columns = std::accumulate(widths.begin(), widths.end(), std::int64_t{0});
  auto& function = node({x});
  function.backward.push_back(rows("cat", of(x).number, m, d(columns)));
  std::vector<Tensor> views;
  for (const auto width : widths) views.push_back(view(x, m * d(width)));
  return views;
}

Tensor Eager::join(Tensor x, Tensor y, std::int64_t rows_of_sample, std::int64_t width) {
  const auto m = d(rows_of_sample) * settings_.batch;
  const auto number = of(x).number;
  const auto of_y = m * d(width) - of(x).elements;
  auto& function = node({x, y});
  forward(rows("cat", number, m, d(width)));
  if (of_y > of(y).elements) function.backward.push_back(stream("sum", number, of_y));
  return make(m * d(width), number, true);
}

Tensor Eager::score_bias(const std::string& name, std::int64_t heads, std::int64_t tokens, std::int64_t keys,
                         std::int64_t buckets) {
  std::vector<Parameter> trained;
  if (buckets > 0) trained.push_back({name + ".weight", {buckets, heads}});
  open(name, std::move(trained));
  const auto number = parameter_number();
  const auto distances = d(tokens * keys);
  const auto elements = d(heads) * distances;
  auto& function = node({});
  if (buckets > 0) {
    forward(operation("embedding", {distances, d(buckets), d(heads)}));
    function.backward.push_back(stream("sum", number, elements * settings_.batch));
    function.backward.push_back(operation("embedding_backward", {distances, d(buckets), d(heads)}));
    function.parameter_bytes += bytes_of(number) * d(buckets * heads);
  }
  forward(stream("add", number, elements * settings_.batch));
  return make(elements * settings_.batch, number, buckets > 0);
}

/// Copies as counted in traces of vit_b_16 in bf16 and tf32. torch.nn.MultiheadAttention has sequences first,
/// which requires many permutations.
Tensor Eager::unpack_heads(Tensor qkv) {
  const auto [elements, number] = std::pair{of(qkv).elements, of(qkv).number};
  const auto third = elements / 3;
  auto& function = node({qkv});
  forward(stream("permute", Number::fp32, third));
  forward(stream("permute", number, elements));  // stands for the separate addition of the bias
  forward(stream("permute", number, elements));
  const auto copies = [&](std::vector<Operation>& pass, int count, Number format) {
    for (int i = 0; i < count; ++i) pass.push_back(stream("permute", format, third));
  };
  copies(function.forward, is_half() ? 1 : 4, number);
  // The gradient of each of the three parts is written into zeros of the whole size; these are added.
  for (int i = 0; i < 3; ++i) {
    function.backward.push_back(stream("zero", number, elements));
    function.backward.push_back(stream("copy", number, third));
    if (i > 0) function.backward.push_back(stream("add", number, elements));
  }
  function.backward.push_back(stream("permute", number, elements));
  copies(function.backward, is_half() ? 1 : 5, number);
  copies(function.backward, 4, Number::fp32);
  function.temporary_backward = elements * bytes_of(number);
  return make(elements, number, true);
}

}  // namespace gradway
