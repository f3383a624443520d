// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace gradway {

/// A range of NVTX as PyTorch's emit_nvtx names it: "aten::mm, seq = 3, op_id = 7, sizes = [[4, 8], [8,
/// 16]]".
/// @source getNvtxStr in torch/csrc/profiler/util.cpp
struct NvtxRange {
  std::string name;           ///< "aten::mm"
  std::string shapes;         ///< "[[4,8],[8,16]]", lists of tensors opened; empty: none
  std::int64_t sequence = 0;  ///< of a node of autograd's graph; 0: none
  bool is_operation = false;  ///< not a range that somebody named
};

NvtxRange nvtx_range(std::string_view text);

/// The type of a kernel's floating-point operands as PyTorch prints it ("float", "c10::BFloat16",
/// "c10::Half"), by what names of kernels have in them: cuBLAS's and CUTLASS's say it, and PyTorch's own are
/// templates of it. One that says nothing works in fp32.
std::string_view operand_type(std::string_view kernel);

/// The types of the operands of an operation, each with a line break behind it: the same for all that have a
/// shape, none for the others. @param shapes as of `nvtx_range`
std::string operand_types(std::string_view shapes, std::string_view type);

}  // namespace gradway
