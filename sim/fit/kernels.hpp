// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/fit/node_facts.hpp"
#include "sim/samples/samples.hpp"

namespace gradway {

/// What kernels reach, each with its residual and the number of its samples:
///
///   * matrix products by arithmetic and shape: the median rate;
///   * memory-bound kernels and attention: latency and rate, by a robust line;
///   * optimizers by their number of tensors: the floor that the CPU's launches set, and a rate;
///   * the costs of launches: medians; the shortest kernel: the median of those that move at most 1 MiB.
///
/// Rates are given as shares of the GPU's datasheet too if it is known. Empty where there is no such sample.
KernelRates fit_kernels(const Samples& samples, const NodeFacts& node);

/// Size and form of a product.
ProductShape shape_of(const MatrixRow& product);

// Times that the rates say; nothing if there is no rate for the row.
std::optional<Seconds> time_of(const KernelRates& rates, const MatrixRow& row);
std::optional<Seconds> time_of(const KernelRates& rates, const MemoryRow& row);
std::optional<Seconds> time_of(const KernelRates& rates, const OptimizerRow& row);
std::optional<Seconds> time_of(const KernelRates& rates, const AttentionRow& row);

}  // namespace gradway
