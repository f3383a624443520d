// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/cost/calibration.hpp"
#include "sim/cost/operation_cost.hpp"
#include "sim/platform/platform.hpp"
#include "sim/scenario/campaign.hpp"
#include "sim/scenario/job.hpp"
#include "sim/scenario/scenario_warnings.hpp"
#include "sim/workload/model.hpp"

namespace gradway {

/// Everything a run needs, looked up and cross-checked. All that follows is a function of this value.
struct Scenario {
  std::string name;
  Model model;
  Platform platform;
  std::optional<Gpu> profiled_gpu;  ///< of the model's profile, if the platform has another
  Job job;
  std::optional<Anchor> anchor{};              ///< that the scenario gave; it stands among the model's
  std::optional<CampaignSettings> campaign{};  ///< of which this is a step
  std::shared_ptr<const OperationCosts> kernel_costs{};  ///< of kernels that were timed; null: none were
  std::string timed_on{};                                ///< the GPU that they were timed on
  /// The same job on the platform of a class of clients, by class; null where its time is told otherwise.
  std::vector<std::shared_ptr<const Scenario>> clients{};
  Calibration calibration;                ///< empty if the platform names none
  std::vector<ScenarioWarning> warnings;  ///< of its files, before anything is simulated
  std::string digest;                     ///< of all files and overrides it was read from
};

}  // namespace gradway
