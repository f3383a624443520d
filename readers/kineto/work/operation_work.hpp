// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "readers/kineto/read/trace.hpp"
#include "sim/base/units.hpp"
#include "sim/platform/gpu.hpp"
#include "sim/workload/profile.hpp"

namespace gradway {

/// Work of an operation, from its shapes.
struct OperationWork {
  KernelClass kind = KernelClass::memory;  ///< Matrix, attention or memory.
  Flops flops{};                           ///< Sum of all its products; 0 if unknown.
  int products = 0;                        ///< Number of equal matrix products.
  Bytes bytes{};                           ///< Operands read and results written; 0: unknown.
};

/// Floating-point operations of matrix products, convolutions and attention from the shapes of their
/// operands:
///
///   mm, bmm, addmm, ...      2 m n k
///   linear                   2 (rows of x) (outputs) (inputs)
///   convolution              2 (elements of y) (elements of a filter)
///   its backward pass        the same for each gradient asked for: of the input, of the filters
///   attention                4 b h s s' d; half of it if causal; backward 2.5 times that (it recomputes
///                            the scores; Dao et al., FlashAttention, 2022)
///
/// Depthwise convolutions are memory: each filter reads one channel only.
///
/// Their bytes are those of each product's operands and result; for other operations, all operands plus a
/// result as large as the largest operand (not for copies and fills, which write an operand).
OperationWork work_of(const Signature& signature);

/// Precision of an operation: the type of its first floating-point operand.
std::optional<Precision> precision_of(const Signature& signature);

/// Bytes per element of PyTorch's type "float", "c10::BFloat16", ..., or of ProcessGroupNCCL's "Float",
/// "BFloat16", ...; 0 if unknown.
int element_bytes(std::string_view type);

/// Product of all dimensions.
double element_count(const Operand::Shape& shape);

/// Elements of a tensor; 0 if the operand is not a tensor.
double elements(const Signature& signature, std::size_t operand);

/// Work of PyTorch's fused attention operations; empty for any other operation. See `work_of`.
std::optional<OperationWork> attention_work(const Signature& signature);

/// Work of PyTorch's convolutions and their backward pass; empty for any other operation, and if the trace
/// lacks the values of the arguments (stride, padding) that determine the size of the result. See `work_of`.
std::optional<OperationWork> convolution_work(const Signature& signature);

/// Shape of the result of a convolution, or of a pooling of images; empty for any other operation, or if its
/// settings are not in the trace.
std::optional<Operand::Shape> convolution_results(const Signature& signature);
std::optional<Operand::Shape> pool_results(const Signature& signature);

/// The integers of an argument such as "2" or "[8, -1]"; empty if it has none or is not in the trace.
std::vector<std::int64_t> whole_numbers(const Signature& signature, std::size_t argument);

/// Operands of a recorded operation.
namespace operands {

inline int bytes(const Signature& signature, std::size_t operand) {
  return operand < signature.operands.size() ? element_bytes(signature.operands[operand].type) : 0;
}

inline const Operand::Shape* shape(const Signature& signature, std::size_t operand) {
  if (operand >= signature.operands.size() || signature.operands[operand].shapes.size() != 1) return nullptr;
  return &signature.operands[operand].shapes.front();
}

/// Whether the operand is a tensor with dimensions.
inline bool has_tensor(const Signature& signature, std::size_t operand) {
  const auto* operand_shape = shape(signature, operand);
  return operand_shape != nullptr && !operand_shape->empty();
}

/// Shape of the result of broadcasting.
inline Operand::Shape broadcast(Operand::Shape longer, Operand::Shape shorter) {
  if (longer.size() < shorter.size()) std::swap(longer, shorter);
  for (std::size_t i = 1; i <= shorter.size(); ++i)
    longer[longer.size() - i] = std::max(longer[longer.size() - i], shorter[shorter.size() - i]);
  return longer;
}

/// The dimension that an argument names. Negative values count from the end of `dimensions` dimensions.
inline std::size_t dimension(const Signature& signature, std::size_t argument, std::size_t dimensions) {
  const auto numbers = whole_numbers(signature, argument);
  const auto count = static_cast<std::int64_t>(std::max<std::size_t>(1, dimensions));
  const auto value = numbers.empty() ? 0 : numbers.front();
  return static_cast<std::size_t>(((value % count) + count) % count);
}

inline bool argument_is(const Signature& signature, std::size_t argument, std::string_view text) {
  return argument < signature.values.size() && signature.values[argument] == text;
}

}  // namespace operands

}  // namespace gradway
