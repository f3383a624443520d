// SPDX-License-Identifier: Apache-2.0
// Mixtures of experts.
#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "sim/workload/eager/eager.hpp"

namespace gradway {
namespace {

/// Operations that find the rows of an expert, whose results the CPU reads: its number, its row of the mask,
/// and `torch.where` on that row. They took 14, 14 and 54 us on a host whose products took 39 us.
constexpr int lookups = 3;
/// Number of tiny operations with the CPU time of the 14 kernels that sort rows in the gradient of an index
/// (`x[rows]`). @source trace of Mixtral's loop on an H100, 2026-11-25, PyTorch 2.11: IndexBackward0 has 18
/// kernels and 337 us of CPU time, each of the two products of an MmBackward0 has 70 us
constexpr int sorts_of_index = 3;
/// Kernels that compute the mask of a layer's experts, before the CPU reads which experts have rows.
constexpr int kernels_of_mask = 4;

/// One expert's share of an operation on the rows of all experts.
Operation of_one_expert(const Operation& of_all, std::int32_t experts) {
  auto size = of_all.size;
  if (of_all.family == KernelFamily::grouped_product) {
    auto& rows = of_all.layout == ProductLayout::tn ? size[2] : size[0];
    rows /= experts;
    size[3] = 0;
    auto product =
        operation(fmt::format("product {} {}", name_of(of_all.precision), name_of(of_all.layout)), size);
    product.of_parameters = of_all.of_parameters;
    return product;
  }
  size[0] /= experts;
  return operation(of_all.kernel, size);
}

}  // namespace

bool Eager::sends_tokens() const {
  return settings_.megatron && settings_.expert > 1 && settings_.sends_tokens && !settings_.expert_capacity;
}

bool Eager::fuses_experts() const {
  return settings_.megatron && settings_.graph_of_step && settings_.fp8 &&
         (settings_.fp8->recipe == Fp8Recipe::mxfp8 || settings_.fp8->recipe == Fp8Recipe::nvfp4) &&
         is_data_centre_blackwell(settings_.compute_capability);
}

/// Transformer Engine launches products and casts of experts one by one, unless one graph has the step.
/// @source pytorch/module/grouped_linear.py (general_grouped_gemm, split_quantize) at v2.9
void Eager::call_by_expert(Node& node, double experts) const {
  if (!settings_.megatron || settings_.graph_of_step) return;
  for (auto* pass : {&node.forward, &node.backward})
    for (auto& operation : *pass) operation.calls = static_cast<int>(experts);
}

/// Multiplies rows by their fp32 shares, casts the products and adds them to the rows of all experts. The
/// backward pass sorts, zeroes and sums the gradient of the index as `dispatch` does.
void Eager::combine_in_loop(Node& node, double elements, Number number) const {
  const auto wide = [&](const char* kernel) { return stream(kernel, Number::fp32, elements); };
  const bool casts = number != Number::fp32;
  node.forward = {tiny(false), wide("scale")};
  if (casts) node.forward.push_back(stream("cast_to_16", Number::fp32, elements));
  node.forward.push_back(stream("add", number, elements));
  node.backward = {stream("permute", number, elements)};
  if (casts) node.backward.push_back(stream("cast_to_32", number, elements));
  node.backward.insert(node.backward.end(), {wide("scale"), wide("mul"), wide("sum")});
  if (casts) node.backward.push_back(stream("cast_to_16", Number::fp32, elements));
  node.backward.insert(node.backward.end(), sorts_of_index + 3, tiny(false));  // + zero, write, sum
}

/// A tiny kernel. @param host_waits the CPU reads its result
Operation Eager::tiny(bool host_waits) const {
  auto kernel = stream("scale", Number::fp32, 1);
  kernel.host_waits = host_waits;
  return kernel;
}

/// Hugging Face's loop over experts. The CPU reads which experts have rows; then, for each expert, its
/// number, its rows and, before each product, its number again, which selects the weight. Each read waits for
/// all work that was issued to the GPU.
/// @source transformers 5.17, modeling_mixtral.py, MixtralExperts.forward; on an H100, 2026-11-25,
/// PyTorch 2.11: 5 reads per expert and one more per layer for all models
void Eager::issue_loop(std::size_t first, std::size_t end) {
  auto& operations = operations_[static_cast<std::size_t>(nodes_[first].layer)].forward;
  const auto look_up = [&] { operations.insert(operations.end(), lookups, tiny(true)); };
  operations.insert(operations.end(), kernels_of_mask, tiny(false));
  operations.push_back(tiny(true));
  const auto experts = nodes_[first].experts;
  for (std::int32_t expert = 0; expert < experts; ++expert) {
    look_up();
    for (auto node = first; node < end; ++node) {
      for (const auto& operation : nodes_[node].forward) {
        if (operation.family == KernelFamily::grouped_product) operations.push_back(tiny(true));
        operations.push_back(of_one_expert(operation, experts));
      }
    }
  }
}

void Eager::issue_loop_backward(std::size_t first, std::size_t end) {
  const auto experts = nodes_[first].experts;
  auto& operations = operations_[static_cast<std::size_t>(nodes_[end - 1].layer)].backward;
  for (std::int32_t expert = 0; expert < experts; ++expert)
    for (auto node = end; node-- > first;)
      for (const auto& operation : nodes_[node].backward)
        operations.push_back(of_one_expert(operation, experts));
}

/// The top-k selection reads the rows once more and is counted as a second softmax.
Tensor Eager::top_k(const std::string& name, Tensor logits, std::int64_t rows_of_sample, std::int64_t experts,
                    std::int64_t k) {
  open(name);
  const auto m = d(rows_of_sample) * settings_.batch;
  logits = cast(logits, Number::fp32);
  auto& function = node({logits});
  const auto softmax = rows("softmax", Number::fp32, m, d(experts));
  forward(softmax);
  forward(softmax);
  forward(stream("scale", Number::fp32, m * d(k)));  // normalizes the shares of the best experts
  function.backward = {stream("scale", Number::fp32, m * d(k)), stream("zero", Number::fp32, m * d(experts)),
                       rows("softmax_backward", Number::fp32, m, d(experts))};
  save(make(m * d(experts), Number::fp32, false));  // all shares
  return make(m * d(k), Number::fp32, true);
}

Tensor Eager::dispatch(const std::string& name, Tensor x, std::int64_t routed, std::int64_t width,
                       std::int64_t experts) {
  open(name);
  if (settings_.expert_loop) loop_ = static_cast<std::int32_t>(experts);
  const auto number = of(x).number;
  const auto elements = d(routed) * d(width) * settings_.batch;
  auto& function = node({x});
  save(make(2 * d(routed) * settings_.batch, Number::fp32, false));  // int64: the token of each row
  if (sends_tokens()) return make(elements, number, true);
  forward(stream("permute", number, elements));
  if (loop_ > 0) {  // the gradient of each expert has the size of all rows; these gradients are added
    const auto full_size = of(x).elements * d(experts);
    function.backward = {stream("zero", number, full_size)};
    function.backward.insert(function.backward.end(), sorts_of_index, tiny(false));
    function.backward.insert(function.backward.end(),
                             {stream("permute", number, elements), stream("add", number, full_size)});
    function.temporary_backward = of(x).elements * bytes_of(number);
    return make(elements, number, true);
  }
  // Megatron-Core copies the number of rows of each expert to the host. For expert parallelism see
  // `to_experts`.
  if (settings_.megatron && settings_.expert == 1 && !settings_.expert_capacity && settings_.waits_for_counts)
    function.forward.back().host_waits = true;
  function.backward = {stream("permute", number, elements), stream("sum", number, elements)};
  function.temporary_backward = elements * bytes_of(number);
  return make(elements, number, true);
}

Tensor Eager::grouped_linear(const std::string& name, Tensor x, std::int64_t rows_of_sample,
                             std::int64_t inputs, std::int64_t outputs, std::int64_t experts, Split split,
                             bool bias) {
  const std::int64_t ranks = settings_.expert_tensor;
  if (split == Split::outputs) outputs = (outputs + ranks - 1) / ranks;
  if (split == Split::inputs) inputs = (inputs + ranks - 1) / ranks;
  open(name, {{name + ".weight", {experts, outputs, inputs}}});
  if (bias) layers_.back().parameters.push_back({name + ".bias", {experts, outputs}});
  layers_.back().is_of_experts = true;
  mark_fp8(inputs, outputs);
  const auto number = is_half() ? half_number() : Number::fp32;
  const bool is_fused = runs_in_fp8() && fuses_experts();
  if (!is_fused) x = cast(x, number);
  const auto m = d(rows_of_sample) * settings_.batch;
  if (runs_in_fp8()) {
    const auto results = linear_in_fp8(x, {.m = m,
                                           .inputs = d(inputs),
                                           .outputs = d(outputs),
                                           .experts = d(experts),
                                           .has_scaled_gradient = is_fused && split == Split::outputs});
    call_by_expert(nodes_.back(), d(experts));
    return results;
  }
  const auto weight = d(experts * outputs * inputs);
  const auto copy = cast_weight(weight);
  auto& function = node({x});
  save(x);
  if (copy > 0) keep_cast_weight(weight, number);
  const auto product = [&](const char* layout, double rows, double columns, double inner) {
    return operation(fmt::format("grouped_product {} {}", arithmetic(), layout),
                     {rows, columns, inner, d(experts)});
  };
  forward(product("nt", m, d(outputs), d(inputs)));
  function.backward = {product("nn", m, d(inputs), d(outputs)), product("tn", d(outputs), d(inputs), m)};
  call_by_expert(function, d(experts));
  if (loop_ > 0) {  // the gradient of each expert's weight has the size of all weights; these are added
    const auto full_size = weight * d(experts);
    function.backward.insert(function.backward.end(), {stream("zero", trained_number(), full_size),
                                                       stream("permute", trained_number(), weight),
                                                       stream("add", trained_number(), full_size)});
    function.temporary_backward = weight * bytes_of(trained_number());
  }
  add_weight_gradient(function, weight);
  if (bias && settings_.megatron) {  // in the epilogue of each product, or by `add_weighted_biases`
    function.backward.push_back(rows("bias_sum", number, m, d(outputs)));
    add_weight_gradient(function, d(experts * outputs));
  } else if (bias) {  // a row per token, gathered by expert
    forward(stream("add", number, m * d(outputs)));
    function.backward.push_back(rows("bias_sum", number, m, d(outputs)));
    add_weight_gradient(function, d(experts * outputs));
  }
  return make(m * d(outputs), number, true);
}

Tensor Eager::add_weighted_biases(Tensor x, std::int64_t experts) {
  const auto [elements, number] = std::pair{of(x).elements, of(x).number};
  const auto of_all = [&](const char* kernel, Number format) { return stream(kernel, format, elements); };
  const auto of_each = [&](std::vector<Operation>& pass, const char* kernel, Number format) {
    pass.insert(pass.end(), static_cast<std::size_t>(experts), stream(kernel, format, elements / d(experts)));
  };
  constexpr auto wide = Number::fp32;
  const bool casts = number != wide;
  auto& function = node({x});
  of_each(function.forward, "zero", wide);  // writes the product of a row and a column
  of_each(function.forward, casts ? "add_mixed" : "add", number);
  function.forward.push_back(of_all("copy", wide));
  if (casts) {
    function.forward.push_back(of_all("cast_to_16", wide));
    function.backward.push_back(of_all("cast_to_32", number));
    of_each(function.backward, "cast_to_16", wide);
  }
  for (int of_factors = 0; of_factors < 2; ++of_factors) {  // gradients of biases and of shares
    of_each(function.backward, "scale", wide);
    of_each(function.backward, "sum", wide);
  }
  function.backward.push_back(of_all("copy", number));
  function.temporary = function.temporary_backward = 2 * elements * bytes_of(wide);
  return make(elements, number, true);
}

Tensor Eager::weighted_rows(Tensor x, Tensor shares) {
  if (!settings_.megatron) return x;
  const auto [elements, number] = std::pair{of(x).elements, of(x).number};
  auto& function = node({x, shares});
  save(shares);
  if (fuses_experts()) return make(elements, number, true);
  if (fuses_activation()) {  // The gradient of shares reads both halves and the gradient of their product.
    function.backward.push_back(stream("sum", number, 3 * elements));
    return make(elements, number, true);
  }
  save(x);
  forward(stream("scale", number, elements));
  function.backward = {stream("scale", number, elements), stream("sum", number, 2 * elements)};
  return make(elements, number, true);
}

Tensor Eager::combine(const std::string& name, Tensor x, Tensor shares, std::int64_t rows_of_sample,
                      std::int64_t width) {
  open(name);
  ++expert_layer_;
  const auto [elements, number] = std::pair{of(x).elements, of(x).number};
  const auto times = stream("mul", number, elements);
  const auto permute = stream("permute", number, elements);
  const auto sum = stream("sum", number, elements);
  if (settings_.megatron) {
    auto& function = node({x});
    const auto sums = make(d(rows_of_sample * width) * settings_.batch, number, true);
    if (sends_tokens()) return sums;
    function.forward = {stream("zero", number, of(sums).elements), sum};
    function.backward = {permute};
    return sums;
  }
  auto& function = node({x, shares});
  const bool in_loop = std::exchange(loop_, 0) > 0;
  save(x);
  save(shares);
  save(make(elements, number, false));  // PyTorch's index_add saves its source.
  function.forward = {permute, times, sum};
  function.backward = {permute, times, times, sum};  // gradients of the rows, then of their shares
  if (in_loop) combine_in_loop(function, elements, number);
  function.temporary = function.temporary_backward = elements * bytes_of(number);
  return make(d(rows_of_sample * width) * settings_.batch, number, true);
}

/// @source Megatron-Core, transformer/moe/moe_utils.py (get_capacity), for the tokens of a micro-batch
std::int64_t Eager::routed_rows(std::int64_t rows_of_sample, std::int64_t experts, std::int64_t k) const {
  if (!settings_.expert_capacity) return rows_of_sample * k;
  const auto even = d(rows_of_sample * k) * settings_.batch / d(experts);
  const auto room = std::ceil(even * *settings_.expert_capacity);
  return static_cast<std::int64_t>(std::ceil(room * d(experts) / settings_.batch));
}

std::int64_t Eager::rows_of_experts(std::int64_t routed) const {
  // With a fixed capacity, or with all experts on each rank, all ranks have equally many rows.
  const bool differs = settings_.expert > 1 && !settings_.expert_capacity;
  const auto& imbalance = settings_.expert_imbalance;
  const auto busiest = differs ? imbalance[std::min(expert_layer_, imbalance.size() - 1)] : 1;
  return static_cast<std::int64_t>(std::ceil(d(routed) * busiest)) * settings_.expert_tensor;
}

Tensor Eager::exchanged(Tensor x, double elements, CollectiveKind there, CollectiveKind back,
                        RankGroup over) {
  const auto number = of(x).number;
  const Bytes bytes{std::max(of(x).elements, elements) * bytes_of(number)};
  auto& function = node({x});
  function.forward_exchanges.push_back({there, bytes, 0, 0, over});
  function.backward_exchanges.push_back({back, bytes, 0, 0, over});
  return make(elements, number, true);
}

Tensor Eager::to_experts(Tensor x, std::int64_t routed, std::int64_t width, std::int64_t experts) {
  constexpr double index_bytes = 8;  // int64, as PyTorch's indices are
  constexpr auto all_to_all = CollectiveKind::all_to_all;
  if (settings_.expert > 1) {
    if (!settings_.expert_capacity &&
        settings_.waits_for_counts) {  // ranks exchange the numbers of rows first
      const Bytes counts{index_bytes * d(experts)};
      const auto sizes = settings_.megatron ? Exchange{CollectiveKind::all_gather, counts * settings_.expert}
                                            : Exchange{all_to_all, counts};
      auto& function = node({});
      function.forward_exchanges.push_back(sizes);
      function.forward_exchanges.back().over = RankGroup::expert;
      function.forward_exchanges.back().host_waits = true;
    }
    const auto taken = rows_of_experts(routed) / settings_.expert_tensor;
    const auto number = of(x).number;
    const auto elements = d(taken * width) * settings_.batch;
    const auto sent = std::max(of(x).elements, elements) * settings_.expert_tokens;
    auto& function = node({x});
    const auto there = settings_.fp8_dispatch ? 1 : bytes_of(number);
    if (settings_.fp8_dispatch) function.forward.push_back(stream("cast_to_8", number, of(x).elements));
    const auto cast = function.forward.size();
    function.forward_exchanges.push_back({all_to_all, Bytes{sent * there}, cast, cast, RankGroup::expert});
    function.backward_exchanges.push_back(
        {all_to_all, Bytes{sent * bytes_of(number)}, 0, 0, RankGroup::expert});
    x = make(elements, number, true);
  }
  if (settings_.expert_tensor > 1)
    x = exchanged(x, of(x).elements * settings_.expert_tensor, CollectiveKind::all_gather,
                  CollectiveKind::reduce_scatter, RankGroup::expert_tensor);
  // Rows arrive ordered by rank and are sorted by expert.
  const bool mixes = settings_.expert > 1 && own_experts(experts) > 1;
  return mixes ? contiguous(x) : x;
}

Tensor Eager::shares_to_experts(Tensor shares, std::int64_t routed) {
  if (settings_.expert == 1 || !settings_.megatron || sends_tokens()) return shares;  // with the tokens
  const auto taken = d(rows_of_experts(routed) / settings_.expert_tensor) * settings_.batch;
  return exchanged(shares, taken, CollectiveKind::all_to_all, CollectiveKind::all_to_all, RankGroup::expert);
}

Tensor Eager::from_experts(Tensor x, std::int64_t routed, std::int64_t width, std::int64_t experts) {
  if (settings_.expert > 1 && own_experts(experts) > 1) x = contiguous(x);
  if (settings_.expert_tensor > 1)
    x = exchanged(x, of(x).elements / settings_.expert_tensor, CollectiveKind::reduce_scatter,
                  CollectiveKind::all_gather, RankGroup::expert_tensor);
  if (settings_.expert == 1) return x;
  const auto number = of(x).number;
  const auto elements = d(routed * width) * settings_.batch;
  const auto sent = std::max(of(x).elements, elements) * settings_.expert_tokens;
  auto& function = node({x});
  const auto back = settings_.fp8_dispatch ? 1 : bytes_of(number);  // gradients go the way of rows
  function.forward_exchanges.push_back(
      {CollectiveKind::all_to_all, Bytes{sent * bytes_of(number)}, 0, 0, RankGroup::expert});
  function.backward_exchanges.push_back(
      {CollectiveKind::all_to_all, Bytes{sent * back}, 0, 0, RankGroup::expert});
  return make(elements, number, true);
}

}  // namespace gradway
