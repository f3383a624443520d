// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "calibration/harness/context.hpp"

namespace gradway::probe {

/// Emits rows of kind `host_memory` (copies by all cores) and `disk` (a file in the folder, written and read
/// without the page cache where the file system allows it).
void probe_host(Context& context, const std::filesystem::path& folder);

}  // namespace gradway::probe
