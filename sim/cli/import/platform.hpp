// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sim/cli/import/formats.hpp"
#include "sim/cli/shell/files.hpp"
#include "sim/describe/matrix_platform.hpp"
#include "sim/files/text_file.hpp"

namespace gradway::cli {

/// Prints an imported platform, or writes it with other files, all or none, and prints their names. Prints
/// warnings to standard error.
/// @param other_files paths are relative to the folder of the platform
void finish_platform_import(const WrittenPlatform& platform, const std::vector<OutputFile>& other_files,
                            const ImportArguments& arguments, const CommandContext& context);

/// Prints a written platform like `gradway show platform`.
void show_written(const std::string& file, const CommandContext& context);

/// The GPU of a node without measurements: that of `--gpu`, else the one that a text names.
/// @param device the driver's name of the GPU; empty if the text does not have it
/// @param where place of the name @param source of the name, for messages: "the text"
/// @throws ConfigError if there is no file for this GPU
DescribedGpu described_gpu(const std::string& device, const Where& where, std::string_view source,
                           const ImportArguments& arguments, const CommandContext& context);

}  // namespace gradway::cli
