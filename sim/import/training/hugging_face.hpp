// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "sim/files/settings_file.hpp"
#include "sim/import/training/scenario_draft.hpp"

namespace gradway {

/// What config.json says; what it leaves out is as transformers has it by default.
/// @param sequence tokens a sample; empty: all positions that the model has
/// @throws ConfigError with every problem: a model_type that is not known, values that are none, shapes that
/// no description of gradway's has
ModelDraft draft_of_hugging_face(const SettingsFile& file, std::optional<int> sequence);

}  // namespace gradway
