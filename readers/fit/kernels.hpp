// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>
#include <optional>
#include <string>

#include "readers/fit/node_facts.hpp"
#include "readers/samples/samples.hpp"
#include "sim/cost/kernel_times.hpp"

namespace gradway {

/// Fits achieved rates of kernels, each with its residual and number of samples:
///
///   * matrix products by arithmetic and shape: the median rate;
///   * memory-bound kernels and attention: latency and rate, by a robust line;
///   * optimizers by their number of tensors: the floor set by the CPU's launches, and a rate;
///   * launch costs: medians; the shortest kernel: the median of those that move at most 1 MiB.
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

/// Timed kernels of the samples, in the order of files. A kernel that was timed several times gets its
/// median. Empty if there are none.
/// @throws ConfigError if the samples are of several GPU models, or do not name their GPU model
std::optional<KernelTimes> fit_kernel_times(const Samples& samples, const NodeFacts& node,
                                            const std::string& source);

/// Writes the section `kernel_times` of a calibration file: one row per kernel, with its time in us to four
/// digits.
void write_kernel_times(std::ostream& out, const KernelTimes& times);

}  // namespace gradway
