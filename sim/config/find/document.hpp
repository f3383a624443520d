// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/config/find/lookup.hpp"
#include "sim/config/yaml/node.hpp"
#include "sim/config/yaml/problems.hpp"
#include "sim/config/yaml/source_file.hpp"

namespace gradway::config {

/// Reads a file whose top level is a map that begins with 'schema: 1', and takes that key off.
/// What is wrong goes to the problems; a file that cannot be used gives a broken node.
Node load_document(const Found& file, Problems& problems);

/// The same of a text that was read already.
Node read_document(const SourceText& source, Problems& problems);

/// The same with `based_on: NAME`: the keys of that file (and of the one it is based on) that this one does
/// not have itself, each with its own place. Only whole top-level keys are inherited.
Node load_with_base(DataKind kind, const Found& file, const Lookup& lookup, Problems& problems);

/// Turns YAML text into nodes. Duplicate keys, anchors, aliases, tags, keys that are no plain words and a
/// second document become problems; reading goes on. Text that is no YAML gives a broken node. No text at all
/// gives null.
Node parse_yaml(const SourceText& source, Problems& problems);

}  // namespace gradway::config
