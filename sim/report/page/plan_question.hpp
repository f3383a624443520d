// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "sim/config/config.hpp"
#include "sim/study/search/training_plan.hpp"

namespace gradway::report {

/// A question of the planner's page.
struct PlanQuestion {
  TrainingPlan plan;
  std::vector<Cluster> clusters;
  std::string deadline;  ///< as written; empty: none
  std::string budget;    ///< the same
  int seeds = 1;
};

/// Reads a question: see the kind `plan` in web/DATA.md. Its model and platforms are names, not paths, so
/// that a page cannot read other files.
/// @throws ConfigError for a damaged question and unknown names
PlanQuestion read_plan_question(std::string_view json, const DataPath& data);

/// Writes the layout that was chosen for a cluster, and the search for it: see web/DATA.md.
void write_plan_layout(std::ostream& out, const LayoutOnCluster& planned, std::string_view version);

}  // namespace gradway::report
