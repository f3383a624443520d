// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "readers/kineto/read/trace.hpp"
#include "sim/platform/gpu.hpp"
#include "sim/workload/collective_kind.hpp"
#include "sim/workload/profile.hpp"

// What names of kernels say, whoever recorded them.

namespace gradway {

/// Class of a kernel, copy or memset by its name: matrix products and convolutions (gemm, xmma, cutlass,
/// nvjet, wgrad, ...), fused attention (fmha, flash, sdpa, ...), or memory. Helper kernels of libraries
/// (changes of layout, reductions of split products, conversions) are memory.
KernelClass class_of(TracedActivity::Kind kind, std::string_view name);

/// Whether a kernel is one of NCCL.
bool is_collective(std::string_view kernel);

/// The collective that a kernel of NCCL or ProcessGroupNCCL names; an all-reduce if none.
/// @source PyTorch 2.10, torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp; NCCL 2.28.9,
/// src/device/generate.py
CollectiveKind collective_kind(std::string_view name);

/// Type of a collective's elements as PyTorch's profiler names it ("BFloat16"), by the name of NCCL's kernel;
/// empty if it does not say.
/// @source NCCL 2.28.9, src/device/generate.py
std::string_view element_type_of(std::string_view kernel);

/// Whether the kernel computes in TF32 although its operands are fp32.
bool uses_tf32(std::string_view kernel);

/// Precision of a kernel's floating-point operands, as its name says it: cuBLAS, cuDNN and CUTLASS name it,
/// and PyTorch's own kernels are templates of it.
std::optional<Precision> precision_by_name(std::string_view kernel);

/// Short name for people: "nchwToNhwcKernel" for "void cudnn::engines_precompiled::nchwToNhwcKernel<float,
/// ...>(...)".
std::string short_name(std::string_view kernel);

}  // namespace gradway
