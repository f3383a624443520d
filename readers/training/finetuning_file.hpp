// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "sim/base/rows.hpp"
#include "sim/files/settings_file.hpp"

namespace gradway {

/// What follows the last dot or slash: "AdamW" of "torch.optim.AdamW".
std::string last_name(std::string_view text);

/// A file with its settings side by side, under the names of the dialect. Keys that the dialect does not have
/// are left out, since most of them are about data and logs, unless they are near one that it has.
SettingsFile with_dialect_names(const SettingsFile& file);

/// The row of the program that a file is for.
const TextRow& program_of(const SettingsFile& file);

}  // namespace gradway
