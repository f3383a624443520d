// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/config/node.hpp"
#include "sim/config/problems.hpp"
#include "sim/config/source_file.hpp"

namespace gradway::config {

/// Turns YAML text into nodes. Duplicate keys, anchors, aliases, tags, keys that are no plain words and a
/// second document become problems; reading goes on. Text that is no YAML gives a broken node. No text at all
/// gives null.
Node parse_yaml(const SourceText& source, Problems& problems);

}  // namespace gradway::config
