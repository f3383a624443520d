// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/config/find/lookup.hpp"
#include "sim/config/yaml/node.hpp"
#include "sim/config/yaml/problems.hpp"
#include "sim/config/yaml/source_file.hpp"

namespace gradway::config {

/// Reads a file whose top level is a map that starts with 'schema: 1', and removes that key. A file that
/// cannot be used gives a broken node.
Node load_document(const FoundFile& file, Problems& problems);

/// Reads a text in the same way.
Node read_document(const SourceText& source, Problems& problems);

/// Reads a file and resolves `based_on: NAME`: adds the top-level keys of that file, and of the one that it
/// is based on, which this file does not have. They keep their places.
Node load_with_base(DataKind kind, const FoundFile& file, const Lookup& lookup, Problems& problems);

/// Parses YAML. Duplicate keys, anchors, aliases, tags, keys that are not plain words and a second document
/// are reported as problems, and reading continues. Invalid YAML gives a broken node, empty text null.
Node parse_yaml(const SourceText& source, Problems& problems);

}  // namespace gradway::config
