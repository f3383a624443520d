// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sim/describe/platform_draft.hpp"
#include "sim/samples/samples.hpp"

namespace gradway {

/// What a platform file says that samples do not.
struct PlatformTitle {
  std::string gpu;          ///< name of the GPU's file
  std::string calibration;  ///< empty: none
};

/// The node that a probe measured, as a platform file that `load_platform` reads: its parts and connections
/// by the node's row, their rates by copies and patterns, each with its source in a comment; what was
/// inferred says so. Of several nodes, one.
/// @throws ConfigError if the samples have no node row, or one that cannot be a platform
WrittenPlatform platform_yaml(const Samples& samples, const PlatformTitle& title);

/// The node's row. @param file that the samples come from, as the user named it, for messages.
/// @throws ConfigError without one, with several that differ, or if its GPUs are of several kinds
const NodeRow& node_of(const Samples& samples, const std::string& file = "");

}  // namespace gradway
