// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "sim/import/kineto/read/trace.hpp"
#include "sim/workload/profile.hpp"

namespace gradway {

/// What a name of a kernel, copy or memset says of it: matrix products and convolutions (gemm, xmma,
/// cutlass, nvjet, wgrad, ...), fused attention (fmha, flash, sdpa, ...), or memory. What libraries run
/// beside their main kernel (changes of layout, reductions of split products, conversions) is memory.
KernelClass class_of(TracedActivity::Kind kind, std::string_view name);

/// Its arithmetic is TF32 although its operands are fp32.
bool uses_tf32(std::string_view kernel);

/// "nchwToNhwcKernel" of "void cudnn::engines_precompiled::nchwToNhwcKernel<float, ...>(...)", for people.
std::string short_name(std::string_view kernel);

}  // namespace gradway
