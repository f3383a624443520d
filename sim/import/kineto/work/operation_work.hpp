// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "sim/base/units.hpp"
#include "sim/import/kineto/read/trace.hpp"
#include "sim/platform/gpu.hpp"
#include "sim/workload/profile.hpp"

namespace gradway {

/// What an operation does, by its shapes.
struct OperationWork {
  KernelClass kind = KernelClass::memory;  ///< matrix, attention or memory
  Flops flops{};                           ///< of all its products; 0: not known
  int products = 0;                        ///< matrix products of the same size it consists of
  Bytes bytes{};                           ///< operands read and results written; 0: not known
};

/// Operations of matrix products, convolutions and attention from the shapes of their operands:
///
///   mm, bmm, addmm, ...      2 m n k
///   linear                   2 (rows of x) (outputs) (inputs)
///   convolution              2 (elements of y) (elements of a filter)
///   its backward pass        as much for each gradient that is asked for: of the input, of the filters
///   attention                4 b h s s' d; half of it if causal; backward 2.5 times that (it computes the
///                            scores again; Dao et al., FlashAttention, 2022)
///
/// Depthwise convolutions are memory: each filter meets one channel only.
///
/// Bytes of these are those of each product's operands and result; of others, all operands and as much as
/// the largest one for the result (not for copies and fills, which write an operand).
OperationWork work_of(const Signature& signature);

/// The arithmetic of an operation: by the type of its first operand that holds floating-point numbers.
std::optional<Precision> precision_of(const Signature& signature);

/// Bytes of an element of PyTorch's type "float", "c10::BFloat16", ...; 0 if it is not known.
int element_bytes(std::string_view type);

/// Product of all dimensions.
double element_count(const Operand::Shape& shape);

/// Elements of a tensor; 0 if there is none.
double elements(const Signature& signature, std::size_t operand);

/// Of PyTorch's fused attention operations; nothing for any other operation. See `work_of`.
std::optional<OperationWork> attention_work(const Signature& signature);

/// Of PyTorch's convolutions and their backward pass; nothing for any other operation. See `work_of`. Without
/// the values of the arguments (stride, padding) the size of a result is not known, nor is the work.
std::optional<OperationWork> convolution_work(const Signature& signature);

/// Shape of what a convolution gives, or a pooling of images; nothing for any other operation, or if its
/// settings are not in the trace.
std::optional<Operand::Shape> convolution_results(const Signature& signature);
std::optional<Operand::Shape> pool_results(const Signature& signature);

/// An argument "2" or "[8, -1]"; empty if it is nothing of the kind or not in the trace.
std::vector<std::int64_t> whole_numbers(const Signature& signature, std::size_t argument);

}  // namespace gradway
