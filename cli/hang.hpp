// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/commands.hpp"

namespace gradway::cli {

struct HangArguments {
  std::vector<std::string> paths;  ///< files and folders
  std::string platform;            ///< empty: nothing is priced
  std::string out;
  std::optional<std::string> max_lost;
  bool json = false;
};

/// Says why a job hangs: `gradway diagnose` of what is not a trace.
Status diagnose_hang(const HangArguments& arguments, const CommandContext& context);

}  // namespace gradway::cli
