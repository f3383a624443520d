// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/cli/optimize_layout.hpp"

namespace gradway::cli {

/// `optimize --campaign`: which cluster, layout, terms and spares train best, failures and all.
Status optimize_campaign(const OptimizeArguments& arguments, const CLI::App& app,
                         const CommandContext& context);

}  // namespace gradway::cli
