// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/files/settings_file.hpp"
#include "sim/import/training/scenario_draft.hpp"

namespace gradway {

/// What DeepSpeed's ds_config.json says, as a scenario.
/// @throws ConfigError with every problem: values that are none, batches that contradict each other, what
/// neither the file nor the options say
ScenarioDraft draft_of_deepspeed(const SettingsFile& file, const DraftOptions& options);

}  // namespace gradway
