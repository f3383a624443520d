// SPDX-License-Identifier: Apache-2.0
// Linear layers with fp8 products.
//
// On Hopper both operands of a product are contiguous along the dimension of summation, so that each of the
// three products of a layer is an "nt" product, and those of the backward pass need transposed copies. On
// data-centre Blackwell, Transformer Engine multiplies operands with one scale per tensor in any layout, and
// all products accumulate in fp32 at full rate. @source is_non_tn_fp8_gemm_supported in
// transformer_engine/common/util/cuda_runtime.cpp; PTX ISA, tcgen05.mma: accumulators in tensor memory
//
// Transformer Engine casts and transposes in one kernel, casts weights in the first micro-batch of a step
// only, and keeps the transposed copy of the input for the backward pass. Its delayed scaling finds the
// largest value during the cast; its current scaling (`tensorwise` here) reads the tensor before. @source
// transformer_engine/pytorch/module/ linear.py, layernorm_linear.py; common/transpose/cast_transpose.cu
//
// torchao casts input and weight in each forward pass; when compiled, it casts once for all layers that read
// the same input. With one scale per tensor it keeps these copies. With row-wise scales and mxfp8 it keeps
// the input, since the other products need other scales. @source torchao/float8/float8_linear.py,
// float8_ops.py (contiguous copies), float8_utils.py (tensor_to_amax, to_fp8_saturated);
// torchao/prototype/mx_formats/mx_linear.py (mx_mm) at 06f5ff43
//
// Scales per block belong to a direction: Transformer Engine makes the matrix and its transpose of the
// original tensor, in one kernel, and keeps of an input only the transposed copy. nvfp4 first reads the
// tensor for the maximum of each direction, after a Hadamard transform of 16 x 16 where the product of the
// weight gradient reads it; the transform is part of both kernels. @source MXFP8BlockScaling,
// NVFP4BlockScaling and Float8BlockScaling in common/recipe/__init__.py; common/hadamard_transform, 2.18
//
// With one scale per tensor, both accumulate in the tensor cores in the forward pass (fast accumulation) and
// in fp32 in the backward pass. With row-wise scales torchao always uses fast accumulation. @source
// torchao/float8/config.py; _2X_ACC_DGRAD and _2X_ACC_WGRAD in module/base.py of Transformer Engine
//
// With one scale per tensor and sequence parallelism, gathered tensors are fp8 and reduced ones have 16 bits.
// @source torchao/float8/float8_tensor_parallel.py; linear.py of Transformer Engine, gather_along_first_dim
#include <algorithm>

#include <fmt/format.h>

#include "sim/workload/blocks.hpp"
#include "sim/workload/eager/eager.hpp"

namespace gradway {
namespace {

/// Whether torchao scales rows or parts of them, so that each product casts its operands again.
bool scales_rows(const Fp8& fp8) {
  return !fp8.by_transformer_engine && (fp8.recipe == Fp8Recipe::rowwise || fp8.recipe == Fp8Recipe::mxfp8);
}

}  // namespace

/// Layers whose dimensions are not multiples of 16 stay in 16 bits: PyTorch's scaled_mm does not support
/// them, and torchtitan excludes them.
void Eager::mark_fp8(std::int64_t inputs, std::int64_t outputs) {
  constexpr std::int64_t multiple = 16;
  auto& layer = layers_.back();
  layer.takes_fp8 = !layer.tied && !block_name(layer.name).empty() && layer.role != LayerRole::router &&
                    inputs % multiple == 0 && outputs % multiple == 0;
}

/// With torchao, experts stay in 16 bits, since its modules replace linear layers only.
bool Eager::runs_in_fp8() const {
  const auto& layer = layers_.back();
  return settings_.fp8 && layer.takes_fp8 && (settings_.fp8->by_transformer_engine || !layer.is_of_experts);
}

/// Whether the exchange before or after the layer that is open gathers fp8.
bool Eager::gathers_in_fp8() const {
  return settings_.fp8 && !scales_rows(*settings_.fp8) && settings_.sequence_parallel &&
         settings_.tensor > 1 && !block_name(layers_.back().name).empty();
}

Number Eager::scaled_number() const {
  return settings_.fp8->recipe == Fp8Recipe::nvfp4 ? Number::nvfp4 : Number::fp8;
}

/// Whether a matrix and its transpose are separate tensors in memory.
bool Eager::keeps_transposes() const {
  const auto& fp8 = *settings_.fp8;
  return !fp8.by_transformer_engine || has_block_scales(fp8.recipe) ||
         !is_data_centre_blackwell(settings_.compute_capability);
}

/// The kernels with which Transformer Engine casts a tensor. @param transposed also its transpose, where that
/// is another tensor
void Eager::quantise(std::vector<Operation>& pass, Number from, double elements, bool transposed) const {
  const auto recipe = settings_.fp8->recipe;
  transposed = transposed && keeps_transposes();
  if (recipe == Fp8Recipe::tensorwise || recipe == Fp8Recipe::nvfp4)
    pass.push_back(stream("amax", from, elements));
  if (recipe == Fp8Recipe::nvfp4) {
    pass.push_back(stream(transposed ? "cast_nvfp4" : "cast_nvfp4_rows", from, elements));
  } else {
    pass.push_back(stream(transposed ? "cast_transpose" : "cast_to_8", from, elements));
  }
}

/// Eager torchao computes absolute values, their maximum, the scale (four kernels) and, in fp32, the product
/// with the scale and its clamping before the cast. Compiled and row-wise, this is one kernel.
void Eager::cast_to_fp8(std::vector<Operation>& pass, Number from, double elements, double width) const {
  const auto& fp8 = *settings_.fp8;
  if (fp8.by_transformer_engine) return quantise(pass, from, elements, false);
  const bool is_fused = settings_.compiled;
  if (is_fused && fp8.recipe == Fp8Recipe::rowwise) {
    pass.push_back(rows("cast_rows", from, elements / width, width));
    return;
  }
  if (!is_fused) pass.push_back(stream("copy", from, elements));
  if (!is_fused || fp8.recipe == Fp8Recipe::tensorwise) pass.push_back(stream("amax", from, elements));
  if (is_fused) {
    pass.push_back(stream("cast_to_8", from, elements));
    return;
  }
  for (int i = 0; i < 4; ++i) pass.push_back(stream("count", Number::fp32, 1));
  if (from != Number::fp32) pass.push_back(stream("cast_to_32", from, elements));
  pass.insert(pass.end(), 2, stream("scale", Number::fp32, elements));
  pass.push_back(stream("cast_to_8", Number::fp32, elements));
}

/// Casts to an fp8 copy and a transposed fp8 copy.
void Eager::cast_and_transpose(std::vector<Operation>& pass, Number from, double elements,
                               double width) const {
  if (settings_.fp8->by_transformer_engine) return quantise(pass, from, elements, true);
  cast_to_fp8(pass, from, elements, width);
  if (settings_.compiled) {
    pass.back() = stream("cast_transpose", from, elements);
  } else {
    pass.push_back(transposed_fp8(elements));
  }
}

/// Casts to a transposed fp8 copy with a scale per column.
void Eager::cast_columns(std::vector<Operation>& pass, Number from, double elements, double width) const {
  if (settings_.compiled && settings_.fp8->recipe == Fp8Recipe::mxfp8) {
    pass.push_back(stream("cast_to_8", from, elements));  // its scales are those of a tile
    return;
  }
  if (settings_.compiled) {
    pass.push_back(rows("cast_columns", from, elements / width, width));
    return;
  }
  cast_to_fp8(pass, from, elements, width);
  pass.push_back(transposed_fp8(elements));
}

/// Transposes an fp8 matrix. PyTorch's own copy kernel does not use tiles; others do.
Operation Eager::transposed_fp8(double elements) const {
  const bool by_tiles = settings_.fp8->by_transformer_engine || settings_.compiled;
  return stream(by_tiles ? "permute" : "transpose", Number::fp8, elements);
}

Tensor Eager::copy_in_fp8(Node& node, Tensor x, double elements, double width) {
  if (settings_.compiled && of(x).in_fp8 >= 0) return {of(x).in_fp8};
  const auto number = of(x).number;
  if (number == Number::fp8 || number == Number::nvfp4) {
    of(x).in_fp8 = x.id;
    return x;
  }
  const bool is_whole = elements == of(x).elements;
  if (settings_.fp8->by_transformer_engine && is_whole) {
    quantise(node.forward, number, elements, !settings_.lora);
    if (keeps_transposes()) node.temporary += bytes_of(scaled_number()) * elements;
  } else {
    cast_to_fp8(node.forward, number, elements, width);
  }
  const auto copy = make(elements, scaled_number(), false);
  of(x).in_fp8 = copy.id;
  return copy;
}

void Eager::cast_weight_to_fp8(Node& node, double weight, double width) {
  const auto& fp8 = *settings_.fp8;
  if (fp8.by_transformer_engine) {
    auto& once = operations_.back().once;
    const auto copies = keeps_transposes() ? 2 : 1;
    if (!fp8.has_weights || has_block_scales(fp8.recipe)) {
      quantise(once, parameter_number(), weight, true);
    } else if (keeps_transposes()) {
      once.push_back(transposed_fp8(weight));
    }
    lasting_.back() += (fp8.has_weights ? copies - 1 : copies) * bytes_of(scaled_number()) * weight;
    return;
  }
  if (fp8.has_weights) return;
  cast_to_fp8(node.forward, parameter_number(), weight, width);
  if (fp8.recipe == Fp8Recipe::tensorwise) save(make(weight, Number::fp8, false));
}

/// One of the three products of a layer.
Operation Eager::product_in_fp8(FromFp8 makes, const LinearShape& shape, double m, double n, double k) const {
  const auto& fp8 = *settings_.fp8;
  const auto number = name_of(scaled_number());
  if (shape.experts > 0)
    return operation(
        fmt::format("grouped_product {} {}", number, makes == FromFp8::weight_gradient ? "tn" : "nt"),
        {m, n, k, shape.experts});
  const bool adds = makes == FromFp8::weight_gradient && fp8.by_transformer_engine && adds_in_fp32();
  const bool is_fast = makes == FromFp8::output || is_data_centre_blackwell(settings_.compute_capability);
  const auto* const layout = fp8.recipe == Fp8Recipe::rowwise     ? "nt_rows"
                             : fp8.recipe == Fp8Recipe::blockwise ? "nt_blocks"
                             : fp8.recipe == Fp8Recipe::mxfp8     ? "nt_mx"
                             : is_fast                            ? "nt_fast"
                                                                  : "nt";
  return operation(fmt::format("product {} {}{}", number, layout, adds ? "_add" : ""), {m, n, k});
}

Tensor Eager::linear_in_fp8(Tensor x, const LinearShape& shape) {
  const bool by_engine = settings_.fp8->by_transformer_engine;
  const bool by_rows = scales_rows(*settings_.fp8);
  const bool gathers_gradient = shape.sums && gathers_in_fp8();
  const bool gathers_beside = of(x).sums_gradient && settings_.sequence_parallel;
  const auto made = shape.m * shape.outputs;
  const auto read = shape.m * shape.inputs;
  const auto number = half_number();
  const bool has_blocks = has_block_scales(settings_.fp8->recipe);
  if (shape.bias) cast_weight(shape.outputs);
  const bool is_transposed = settings_.compiled && of(x).in_fp8 >= 0;  // by another layer that reads it
  auto& function = node({x});
  function.is_product = !shape.bias && !by_engine;
  const auto copy = copy_in_fp8(function, x, gathers_beside ? read / settings_.tensor : read, shape.inputs);
  save(by_rows ? x : copy);
  cast_weight_to_fp8(function, shape.weight(), shape.inputs);
  forward(product_in_fp8(FromFp8::output, shape, shape.m, shape.outputs, shape.inputs));
  split_reader(function, x);
  // torchao adds the bias after the product; compiled code fuses that with the next operation.
  if (shape.bias && !by_engine && !settings_.compiled) forward(stream("scale", number, made));

  if (by_rows) {
    cast_to_fp8(function.backward, number, made, shape.outputs);
  } else if (!gathers_gradient && !shape.has_scaled_gradient) {
    cast_and_transpose(function.backward, number, made, shape.outputs);
  }
  if (of(x).needs_grad) {
    if (by_rows) cast_columns(function.backward, parameter_number(), shape.weight(), shape.inputs);
    if (!by_rows && !by_engine) function.backward.push_back(transposed_fp8(shape.weight()));
    function.backward.push_back(
        product_in_fp8(FromFp8::input_gradient, shape, shape.m, shape.inputs, shape.outputs));
  }
  const auto of_inputs = function.backward.size();
  if (by_rows) {
    cast_columns(function.backward, number, made, shape.outputs);
    if (!is_transposed) cast_columns(function.backward, number, read, shape.inputs);
  } else {
    const bool transposes = !by_engine || (keeps_transposes() && !has_blocks);
    if (gathers_gradient && transposes) function.backward.push_back(transposed_fp8(made));
    if (transposes && (!by_engine || gathers_beside) && !is_transposed)
      function.backward.push_back(transposed_fp8(read));
  }
  function.backward.push_back(
      product_in_fp8(FromFp8::weight_gradient, shape, shape.outputs, shape.inputs, shape.m));
  // Transformer Engine sums the bias gradient during the cast, or before it if the gradient is gathered.
  if (shape.bias && (!by_engine || gathers_gradient))
    function.backward.push_back(
        rows("bias_sum", number, gathers_gradient ? shape.m / settings_.tensor : shape.m, shape.outputs));
  add_weight_gradient(function, shape.weight());
  if (shape.bias) add_weight_gradient(function, shape.outputs);
  for (auto i = of_inputs; i < function.backward.size(); ++i) function.backward[i].of_parameters = true;
  function.temporary_backward =
      std::max(function.temporary_backward, 2 * made + (by_engine ? 0 : std::max(shape.weight(), read)));
  if (of(x).sums_gradient)
    overlap_exchange(function, of_inputs, Bytes{read * (by_rows ? 2 : bytes_of(scaled_number()))},
                     Bytes{read * bytes_of(number)});
  return make(made, number, true);
}

}  // namespace gradway
