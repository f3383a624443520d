// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "sim/import/kineto/kineto.hpp"

namespace gradway {

/// What Nsight Systems recorded of training steps on one GPU without DDP, as a profile: its report, exported
/// to SQLite (`nsys export --type sqlite`). Operations and their shapes are the NVTX ranges of
/// torch.autograd.profiler.emit_nvtx(record_shapes=True), which must be there; the types of operands, which
/// those do not tell, are taken from the names of the kernels.
/// @param shown the file's name in messages.
/// @throws ConfigError with all that makes the export unfit, and what to record instead.
/// @source NVIDIA, "SQLite Export Schema Reference" of Nsight Systems 2021.5
ImportedProfile import_nsys(const std::filesystem::path& file, const std::string& shown,
                            const ImportOptions& options);

}  // namespace gradway
