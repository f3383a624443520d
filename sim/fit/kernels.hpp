// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/fit/node_facts.hpp"
#include "sim/samples/samples.hpp"

namespace gradway {

/// Achieved rates of kernels, each with its residual and number of samples:
///
///   * matrix products by arithmetic and shape: the median rate;
///   * memory-bound kernels and attention: latency and rate, by a robust line;
///   * optimizers by their number of tensors: the floor that the CPU's launches set, and a rate;
///   * the costs of launches: medians; the shortest kernel: the median of those that move at most 1 MiB.
///
/// Rates are also given as shares of the datasheet rate if the GPU is known. Lists without samples are empty.
KernelRates fit_kernels(const Samples& samples, const NodeFacts& node);

/// Size class of a matrix product.
ProductShape shape_of(const MatrixRow& product);

// Time of a row by the rates; empty if there is no rate for it.
std::optional<Seconds> time_of(const KernelRates& rates, const MatrixRow& row);
std::optional<Seconds> time_of(const KernelRates& rates, const MemoryRow& row);
std::optional<Seconds> time_of(const KernelRates& rates, const OptimizerRow& row);
std::optional<Seconds> time_of(const KernelRates& rates, const AttentionRow& row);

}  // namespace gradway
