// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/cli/import/formats.hpp"
#include "sim/import/training/scenario_draft.hpp"

namespace gradway::cli {

/// The options of an import to a scenario. @throws ConfigError for unknown names
DraftOptions draft_options(const ImportArguments& arguments, const CommandContext& context);

/// Prints an imported scenario, or writes it and prints its name. Prints its notes to standard error.
void finish_scenario_import(const ScenarioDraft& draft, const ImportArguments& arguments,
                            const CommandContext& context);

}  // namespace gradway::cli
