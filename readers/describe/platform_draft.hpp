// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "readers/describe/node_links.hpp"
#include "readers/topology/node_layout.hpp"

namespace gradway {

/// Contents of a platform file. Remarks become comments above what they describe.
struct PlatformDraft {
  std::string source;
  std::string gpu;  ///< Name of the GPU's file.
  std::vector<std::string> gpu_remarks;
  std::string calibration;    ///< Empty if none.
  std::string cpu_vendor;     ///< As spelled by CPUs: GenuineIntel, AuthenticAMD; empty if unknown.
  std::string no_vendor;      ///< Why the vendor is unknown.
  bool nvls_was_off = false;  ///< When the node was measured.
  std::optional<std::pair<BytesPerSecond, std::string>> pageable_copy;  ///< With its source.
  NodeLayout layout;
  std::vector<std::string> remarks;  ///< On the layout.
  NodeLinks links;
  std::vector<std::string> nics;  ///< NICs to list; each is in `links`.
  std::vector<std::string> nic_remarks;
  std::vector<std::string> loose_links;  ///< Lines of links that are comments, as their rates are unknown.
  std::vector<std::string> closing;      ///< Comments at the end, one per line.
};

/// Remark on an NVSwitch that follows from the pairs of a matrix.
inline constexpr auto inferred_nvswitch =
    "Inferred: an NVSwitch, since the NVLinks of a GPU to all others are more than it has, or are equal.";

/// A platform file as text, with warnings for the user.
struct WrittenPlatform {
  std::string yaml;
  std::vector<std::string> warnings;
};

/// Returns the file's text.
std::string platform_text(const PlatformDraft& draft);

/// A rate as written in platform files: "26.2 GB/s".
std::string platform_rate(BytesPerSecond rate);

}  // namespace gradway
