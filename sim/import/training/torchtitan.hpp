// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/files/settings_file.hpp"
#include "sim/import/training/scenario_draft.hpp"

namespace gradway {

/// What torchtitan's TOML says, as a scenario; what it leaves out is as torchtitan has it by default.
/// @throws ConfigError with every problem: values that are none, degrees and batches that contradict each
/// other, what neither the file nor the options say
ScenarioDraft draft_of_torchtitan(const SettingsFile& file, const DraftOptions& options);

}  // namespace gradway
