// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/config/config.hpp"
#include "sim/files/text_file.hpp"

namespace gradway::cli {

/// Kinds of questions of the planner's page.
inline constexpr std::array<std::string_view, 5> plan_kinds{"first-layout", "layout", "campaigns", "scenario",
                                                            "model"};

/// Answers a question of the planner's page (web/DATA.md), in the browser or from a server.
/// @param kind layout: the layout of the question's first cluster; first-layout: the same, sooner, perhaps a
/// slower one; campaigns: on all clusters, whose layouts are known, best first; scenario: of the first
/// cluster, as YAML; model: that of a config.json, as YAML
/// @param question JSON; with kind model the text of the config.json
void answer_plan(std::ostream& out, std::string_view kind, const std::string& question, const DataPath& data);

struct ImportedModel {
  std::string yaml;
  std::vector<std::string> notes;  ///< what the model expresses differently, each on a line
};

/// The model of a config.json of Hugging Face.
/// @param sequence tokens per sample; empty: the default of `gradway import hf`
ImportedModel model_of_config(const TextFile& config, std::optional<int> sequence = {});

}  // namespace gradway::cli
