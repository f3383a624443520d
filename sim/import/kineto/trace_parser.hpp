// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/files/compressed_file.hpp"
#include "sim/import/kineto/raw_event.hpp"

namespace gradway {

/// Reads the JSON of a Chrome trace event by event; never holds more than one.
/// @throws ConfigError if the file is empty, no JSON (with line and column), cut off or no trace of the
/// PyTorch profiler.
void parse_trace(CompressedFile& file, TraceSink& sink);

}  // namespace gradway
