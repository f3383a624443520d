// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sim/cli/import/formats.hpp"
#include "sim/cli/shell/files.hpp"
#include "sim/describe/matrix_platform.hpp"
#include "sim/files/text_file.hpp"

namespace gradway::cli {

/// Ends the import of a platform: prints it, or writes it with the files beside it, all or none, and names
/// them. Warnings go to standard error.
/// @param beside named from the platform's folder
void put_platform(const WrittenPlatform& platform, const std::vector<OutputFile>& beside,
                  const ImportArguments& arguments, const CommandContext& context);

/// Shows a platform that was written, as `gradway show platform` does.
void show_written(const std::string& file, const CommandContext& context);

/// The GPU of a node that nobody measured: the one of `--gpu`, else the one that a text names.
/// @param device as the driver names it; empty: the text does not say
/// @param where the text says so @param teller what says so, for messages: "the text"
/// @throws ConfigError if there is no file of it
DescribedGpu described_gpu(const std::string& device, const Where& where, std::string_view teller,
                           const ImportArguments& arguments, const CommandContext& context);

}  // namespace gradway::cli
