// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "sim/import/kineto/trace.hpp"

namespace gradway {

/// Reads a trace of the PyTorch profiler (Chrome trace JSON, plain or gzip) and keeps what the import needs,
/// about 50 bytes an event.
/// @param shown the file's name in messages.
/// @throws ConfigError if the file cannot be read or is no such trace.
Trace read_trace(const std::filesystem::path& file, const std::string& shown);

}  // namespace gradway
