// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/describe/node_links.hpp"
#include "sim/import/topology/node_layout.hpp"

namespace gradway {

/// What a platform file shall say; remarks become comments above what they are about.
struct PlatformDraft {
  std::string source;
  std::string gpu;  ///< name of the GPU's file
  std::vector<std::string> gpu_remarks;
  std::string calibration;    ///< empty: none
  std::string cpu_vendor;     ///< as CPUs spell it: GenuineIntel, AuthenticAMD; empty: not known
  std::string no_vendor;      ///< why the vendor is not known
  bool nvls_was_off = false;  ///< when the node was measured
  std::optional<std::pair<BytesPerSecond, std::string>> pageable_copy;  ///< and its source
  NodeLayout layout;
  std::vector<std::string> remarks;  ///< on the layout
  NodeLinks links;
  std::vector<std::string> nics;  ///< to list; each is in `links`
  std::vector<std::string> nic_remarks;
  std::vector<std::string> loose_links;  ///< lines of links that stay comments, as their rates are not known
  std::vector<std::string> closing;      ///< comments at the end, one a line
};

/// A platform file as text, and what its reader should know.
struct WrittenPlatform {
  std::string yaml;
  std::vector<std::string> warnings;
};

/// The file's text.
std::string platform_text(const PlatformDraft& draft);

/// A rate as platform files write it: "26.2 GB/s".
std::string platform_rate(BytesPerSecond rate);

}  // namespace gradway
