// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sim/files/text_file.hpp"

namespace gradway {

/// The GPUs that `nvidia-smi -L` lists, somewhere in a text.
struct GpuList {
  std::string device;  ///< as the driver names all of them; empty: the text has no such line
  int gpus = 0;
  Where first;  ///< the first line's place
};

/// Finds the lines "GPU 0: NVIDIA H200 (UUID: GPU-...)".
/// @throws ConfigError at a GPU of another kind than the first one
GpuList find_gpu_list(const TextFile& file);

}  // namespace gradway
