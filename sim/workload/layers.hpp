// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sim/workload/model.hpp"

/// Layers from their shapes: parameters, operations and activations traffic of the forward and the backward
/// pass, counted for eager PyTorch (each function's note says what it counts). A multiply-add is two
/// operations; the backward pass of a matrix product does two products of the same size (the input's and the
/// weight's gradient).
namespace gradway::layers {

/// y = x W^T + b over `rows` vectors a sample (tokens; 1 for a plain classifier).
/// Backward: gradients of x, W and b; x is kept.
Layer linear(std::string name, std::int64_t rows, std::int64_t inputs, std::int64_t outputs,
             bool bias = true);

struct Conv2d {
  std::int64_t in_channels, out_channels, kernel, out_height, out_width, in_height, in_width;
  bool bias = true;
  bool first = false;       ///< the input needs no gradient
  std::int64_t groups = 1;  ///< divides both numbers of channels
};
Layer conv2d(std::string name, const Conv2d& shape);

/// LayerNorm over rows of `width`; x is kept, in fp32 under autocast too, as the residual stream is.
Layer layer_norm(std::string name, std::int64_t rows, std::int64_t width, bool bias = true);
/// BatchNorm over `elements` activations in `channels`; x is kept.
Layer batch_norm(std::string name, std::int64_t elements, std::int64_t channels);
/// GELU, ReLU and the like; x is kept.
Layer elementwise(std::string name, std::int64_t elements);
/// y = x + f(x): one addition forward, one accumulation of gradients backward; keeps nothing.
Layer residual(std::string name, std::int64_t elements);
/// Pooling from `inputs` to `outputs` elements.
Layer pool(std::string name, std::int64_t inputs, std::int64_t outputs);
/// Scaled dot-product attention as one fused kernel: forward 4 t^2 h operations, backward 2.5 times that (it
/// computes the scores again; Dao et al., FlashAttention, 2022); with the copies that bring packed
/// projections into head order. Keeps q, k, v and the result.
Layer attention(std::string name, std::int64_t tokens, std::int64_t width, bool causal);
/// Rows of a table picked by token; backward fills a dense gradient of the whole table.
Layer embedding(std::string name, std::int64_t tokens, std::int64_t vocabulary, std::int64_t width);
/// Parameters that are added to `elements` activations (positions, a class token).
Layer added_parameters(std::string name, std::int64_t elements, std::vector<Parameter> parameters);
/// Cross entropy over `rows` rows of `classes`. Kept: the logits (the training loop holds them) and, in fp32,
/// the log-probabilities; the backward pass holds the gradients of both for a moment.
Layer cross_entropy(std::string name, std::int64_t rows, std::int64_t classes);

}  // namespace gradway::layers
