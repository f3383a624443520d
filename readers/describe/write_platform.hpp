// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "readers/describe/platform_draft.hpp"
#include "readers/samples/samples.hpp"

namespace gradway {

/// Data of a platform file that samples lack.
struct PlatformTitle {
  std::string gpu;          ///< Name of the GPU's file.
  std::string calibration;  ///< Empty if none.
};

/// Writes a platform file, which `load_platform` reads, of the node that a probe measured: its parts and
/// connections by the node's row, their rates by copies and patterns, each with its source in a comment; what
/// is inferred is marked so. For several nodes one is described.
/// @throws ConfigError if the samples have no node row, or an unusable one
WrittenPlatform platform_yaml(const Samples& samples, const PlatformTitle& title);

/// The node's row. @param file of the samples, as named by the user, for messages.
/// @throws ConfigError without one, with several that differ, or if its GPUs are of several kinds
const NodeRow& node_of(const Samples& samples, const std::string& file = "");

/// A GPU's file as text, with the keys that were not measured.
struct WrittenGpu {
  std::string yaml;
  std::vector<std::string> to_complete;  ///< Keys.
};

/// A file of platforms/gpus for a new GPU, from the driver and the probe. Peaks are the rates of large matrix
/// products, with an efficiency of 1, so their product, which predictions use, is measured. Missing values
/// are those of our H200 and marked so.
/// @throws ConfigError if the node row or the rows of products are insufficient
WrittenGpu gpu_yaml(const Samples& samples);

}  // namespace gradway
