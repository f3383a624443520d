// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

namespace gradway {

/// Opens a file for reading and returns its descriptor, or -1. A named pipe is at its end if no program
/// writes to it: opening it the usual way would wait for a writer for ever. A pipe that a program has open,
/// as the shell's <(COMMAND), is read like a file.
int open_without_waiting(const std::filesystem::path& path);

}  // namespace gradway
