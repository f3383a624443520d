// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "sim/files/compressed_file.hpp"
#include "sim/import/kineto/read/raw_event.hpp"
#include "sim/import/kineto/read/trace.hpp"

namespace gradway {

/// Reads a trace of the PyTorch profiler (Chrome trace JSON, plain or gzip) and keeps what the import needs,
/// about 50 bytes an event.
/// @param shown the file's name in messages.
/// @throws ConfigError if the file cannot be read or is no such trace.
Trace read_trace(const std::filesystem::path& file, const std::string& shown);

/// Keeps what the import needs of events that somebody hands on. @param file names the trace in messages
/// @throws ConfigError for events whose times cannot be
Trace collect_trace(const Where& file, const std::function<void(TraceSink&)>& read);

/// Reads the JSON of a Chrome trace event by event; never holds more than one.
/// @throws ConfigError if the file is empty, no JSON (with line and column), cut off or no trace of the
/// PyTorch profiler.
void parse_trace(CompressedFile& file, TraceSink& sink);

}  // namespace gradway
