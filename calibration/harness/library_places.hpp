// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace gradway::probe {

/// Arguments for dlopen, in this order, to find a library: existing files below the folders that the user
/// named and below those of variables (NCCL_HOME, CUDNN_HOME, CUDA_HOME, CUDA_PATH, VIRTUAL_ENV,
/// CONDA_PREFIX), then the plain names, which the loader resolves, then files below CUDA's default folder and
/// that of the Python in PATH. Searched are a folder itself, its lib and lib64, and the folders of PyTorch's
/// packages in it, if it is a Python environment or its site-packages.
/// @param names of the library, the preferred one first
/// @param variable the environment: null if a variable is not set
std::vector<std::string> library_places(const std::vector<std::string>& names,
                                        const std::vector<std::filesystem::path>& named,
                                        const std::function<const char*(const char*)>& variable);

}  // namespace gradway::probe
