// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/cli/import/formats.hpp"
#include "sim/import/training/scenario_draft.hpp"

namespace gradway::cli {

/// The options of an import that becomes a scenario. @throws ConfigError for names that nothing has
DraftOptions draft_options(const ImportArguments& arguments, const CommandContext& context);

/// Ends the import of a scenario: prints it, or writes it and names it. Its notes go to standard error, too.
void put_scenario(const ScenarioDraft& draft, const ImportArguments& arguments,
                  const CommandContext& context);

}  // namespace gradway::cli
