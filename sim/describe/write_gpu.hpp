// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sim/samples/samples.hpp"

namespace gradway {

/// A GPU's file as text, and what in it was not measured.
struct WrittenGpu {
  std::string yaml;
  std::vector<std::string> to_complete;  ///< keys
};

/// A file of platforms/gpus for a GPU that none describes, from what the driver and the probe say. Peaks are
/// the rates that large products reached, with an efficiency of 1: their product, which is what predictions
/// use, is measured. What is missing is as on our H200, and says so.
/// @throws ConfigError if the node row or the rows of products do not say enough
WrittenGpu gpu_yaml(const Samples& samples);

}  // namespace gradway
