// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "sim/workload/captured/captured_step.hpp"

namespace gradway {

// How the operands of a captured operation lie in memory.

/// The first output, or the operand that an operation without outputs changes.
const CapturedTensor& written_by(const CapturedOperation& captured);

/// Whether all operands have the layout of the result.
bool has_same_layout(const CapturedOperation& captured);

/// Dimensions of the result after neighbours that all operands traverse alike have become one.
/// @source aten/src/ATen/TensorIterator.cpp, coalesce_dimensions, PyTorch 2.11
int merged_dimensions(const CapturedOperation& captured);

/// Whether operands are smaller than the result, and those of its size are contiguous.
bool is_broadcast(const CapturedOperation& captured);

/// Kernel of an elementwise operation whose operands have different layouts; empty if it was not timed.
std::string_view kernel_of_layouts(const CapturedOperation& captured);

/// Whether a reduction joins neighbours in memory, and not all elements.
bool reduces_rows(const CapturedOperation& captured);

}  // namespace gradway
