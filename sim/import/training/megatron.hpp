// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/files/settings_file.hpp"
#include "sim/import/training/scenario_draft.hpp"

namespace gradway {

/// A job as Megatron-LM's arguments tell it.
struct MegatronDraft {
  ScenarioDraft scenario;
  ModelDraft model;  ///< without keys if the options name one
};

/// What arguments leave out is as Megatron-LM has it by default. @param name of the model, if the options do
/// not name one
/// @throws ConfigError with every problem: values that are none or contradict each other, and shapes that no
/// description of gradway's has
MegatronDraft draft_of_megatron(const ArgumentSettings& arguments, const DraftOptions& options,
                                const std::string& name);

}  // namespace gradway
