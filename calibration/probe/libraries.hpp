// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "calibration/probe/library.hpp"

namespace gradway::probe {

/// Loads what the probes use. @param named folders to look below first
/// @return for each library which one it is; or what is left out without it, and what to do
std::vector<std::string> find_libraries(const std::vector<std::filesystem::path>& named);

/// cuDNN; the probes have its functions only if its headers were there when they were built.
Library::Description cudnn_description();

/// Of the libraries. @throws Refusal if there is none
std::string nccl_version();
std::string cudnn_version();

}  // namespace gradway::probe
