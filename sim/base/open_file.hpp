// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

namespace gradway {

/// Opens a file for reading without blocking and returns its descriptor, or -1. A named pipe without a writer
/// reads as empty, where an ordinary open would block forever. A pipe that a program has open, such as the
/// shell's <(COMMAND), is read like a file.
int open_without_waiting(const std::filesystem::path& path);

}  // namespace gradway
