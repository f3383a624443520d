// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/warning.hpp"
#include "sim/cost/calibration.hpp"
#include "sim/cost/operation_cost.hpp"
#include "sim/platform/platform.hpp"
#include "sim/scenario/campaign.hpp"
#include "sim/scenario/job.hpp"
#include "sim/workload/model.hpp"

namespace gradway {

struct Scenario;

/// A part of the campaign and its step under each condition: hours of the day by the storage's tiers.
struct ScenarioPhase {
  std::optional<double> until{};  ///< tokens or samples; empty: the end of the campaign
  std::vector<std::shared_ptr<const Scenario>> steps{};
};

/// Everything that a run needs, looked up and cross-checked. A prediction is a function of this value.
struct Scenario {
  // Defined in scenario.cpp, because each file that compiled them would need seconds more.
  Scenario();
  Scenario(const Scenario&);
  Scenario(Scenario&&) noexcept;
  Scenario& operator=(const Scenario&);
  Scenario& operator=(Scenario&&) noexcept;
  ~Scenario();

  std::string name;
  Model model;
  Platform platform;
  std::optional<Gpu> profiled_gpu;  ///< GPU of the model's profile, if the platform has another one
  Job job;
  std::optional<Anchor> anchor{};  ///< the scenario's own anchor, which is among the model's as well
  std::optional<CampaignSettings> campaign{};            ///< the training of which this is one step
  std::shared_ptr<const OperationCosts> kernel_costs{};  ///< of kernels that were timed; null: none
  std::string timed_on{};                                ///< GPU on which they were timed
  /// The same job on the platform of each class of clients; null for classes without a platform.
  std::vector<std::shared_ptr<const Scenario>> clients{};
  /// The parts of a campaign whose steps differ in its course; empty for other campaigns.
  std::vector<ScenarioPhase> phases{};
  Calibration calibration;        ///< empty if the platform names none
  std::vector<Warning> warnings;  ///< from its files, before anything is simulated
  std::string digest;             ///< of all files and overrides that it was read from
};

}  // namespace gradway
