// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace gradway::probe {

/// What is to be given to dlopen, in this order, to find a library: files that exist below the folders that
/// the user named and below those that variables name (NCCL_HOME, CUDNN_HOME, CUDA_HOME, CUDA_PATH,
/// VIRTUAL_ENV, CONDA_PREFIX), then its plain names, which the loader looks up, then files below CUDA's usual
/// folder and below that of the Python in PATH. Below a folder: in it, its lib and lib64, and where the
/// packages of PyTorch lie in it, be it an environment of Python or its site-packages.
/// @param names of the library, the preferred one first
/// @param variable the environment: null if a variable is not set
std::vector<std::string> library_places(const std::vector<std::string>& names,
                                        const std::vector<std::filesystem::path>& named,
                                        const std::function<const char*(const char*)>& variable);

}  // namespace gradway::probe
