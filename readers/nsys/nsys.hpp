// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "readers/kineto/kineto.hpp"
#include "readers/kineto/read/raw_event.hpp"

namespace gradway {

/// Imports training steps on one GPU without DDP, recorded by Nsight Systems and exported to SQLite (`nsys
/// export --type sqlite`), as a profile. Operations and their shapes are the NVTX ranges of
/// torch.autograd.profiler.emit_nvtx(record_shapes=True), which are required. The types of operands, which
/// these ranges do not contain, are taken from the names of the kernels.
/// @param shown the file's name in messages.
/// @throws ConfigError with everything that makes the export unusable, and what to record instead.
/// @source NVIDIA, "SQLite Export Schema Reference" of Nsight Systems 2021.5
ImportedProfile import_nsys(const std::filesystem::path& file, const std::string& shown,
                            const ImportOptions& options);

/// Whether the file begins like a SQLite database.
bool is_nsys_export(const std::filesystem::path& file);

/// One trace for each process in an export that used a GPU, for a diagnosis of several ranks on a node.
/// Steps are the NVTX ranges with "step", "iter" or "batch" in their names during which most kernels are
/// launched. A trace has operations only if emit_nvtx() recorded them, and ranks and process groups only if
/// NCCL's ranges have their payloads.
/// @param shown the file's name in messages.
/// @throws ConfigError if the export lacks kernels, calls or ranges
std::vector<Trace> read_nsys(const std::filesystem::path& file, const std::string& shown);

/// An NVTX range with a name by PyTorch's emit_nvtx: "aten::mm, seq = 3, op_id = 7, sizes = [[4, 8], [8,
/// 16]]".
/// @source getNvtxStr in torch/csrc/profiler/util.cpp
struct NvtxRange {
  std::string name;  ///< Such as "aten::mm".
  /// Such as "[[4,8],[8,16]]", with lists of tensors flattened; empty if there are none.
  std::string shapes;
  std::int64_t sequence = 0;  ///< Number of a node of autograd's graph; 0: none.
  bool is_operation = false;  ///< False for a range that the program named.
};

NvtxRange nvtx_range(std::string_view text);

/// Type of a kernel's floating-point operands as PyTorch prints it ("float", "c10::BFloat16", "c10::Half"),
/// by its name. A kernel whose name does not state it is taken as fp32.
std::string_view operand_type(std::string_view kernel);

/// Elements of the largest tensor. @param shapes as in `NvtxRange`
std::int64_t largest_operand(std::string_view shapes);

/// Types of the operands of an operation, each followed by a line break: the given type for operands with a
/// shape, "Scalar" for the others. @param shapes as in `nvtx_range`
std::string operand_types(std::string_view shapes, std::string_view type);

/// Limits of a multiprocessor of a GPU with this compute capability; zeros if unknown.
/// @source CUDA C++ Programming Guide 12.8, table "Technical Specifications per Compute Capability"
RawDevice limits_of_capability(std::int64_t major, std::int64_t minor);

}  // namespace gradway
