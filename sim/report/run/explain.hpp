// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/report/format/json_document.hpp"
#include "sim/report/format/style.hpp"
#include "sim/study/explain/explain.hpp"

namespace gradway::report {

/// The command that runs a scenario.
struct RunCommand {
  using Settings = std::vector<std::pair<std::string, std::string>>;  ///< keys and their values

  std::string scenario;
  Settings set{};

  /// The command for a shell, with some keys changed: "gradway run article/g6e --set job.gpus=4".
  std::string with(const Settings& changes) const;
};

/// Writes an explanation for a person: the step and its bottleneck with the evidence; what would help,
/// largest gain first, each as a bar (its full width is the step) and in words; what would not help; the
/// commands that run each of these.
/// @param command that runs the scenario as it was explained
void write_text(std::ostream& out, const Explanation& explanation, const RunCommand& command,
                const Style& style);

/// The same as one JSON document, in full precision.
JsonDocument json_document(const Explanation& explanation, std::string_view version);

}  // namespace gradway::report
