// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "calibration/probe/library.hpp"

namespace gradway::probe {

/// Loads the libraries of the probes. @param named folders to search first
/// @return a message for each library: its version, or what is left out without it and what to do
std::vector<std::string> find_libraries(const std::vector<std::filesystem::path>& named);

/// cuDNN; the probes have its functions only if its headers were present at build time.
Library::Description cudnn_description();

/// Versions of the libraries. @throws Refusal if there is none
std::string nccl_version();
std::string cudnn_version();

}  // namespace gradway::probe
