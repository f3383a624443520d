// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/cost/calibration.hpp"
#include "sim/platform/platform.hpp"
#include "sim/scenario/job.hpp"
#include "sim/workload/model.hpp"

namespace gradway {

/// Everything a run needs, looked up and cross-checked. All that follows is a function of this value.
struct Scenario {
  std::string name;
  Model model;
  Platform platform;
  std::optional<Gpu> profiled_gpu;  ///< of the model's profile, if the platform has another
  Job job;
  std::optional<Anchor> anchor{};  ///< that the scenario gave; it stands among the model's
  Calibration calibration;         ///< empty if the platform names none
  /// Of kernels on the platform's GPU, or on one like it; null if there are none, or the model is not
  /// described by layers. The runs of a sweep share them.
  std::shared_ptr<const KernelTimes> kernel_times{};
  std::optional<Gpu> kernel_times_gpu{};  ///< that they were timed on, if the platform has another
  std::vector<std::string> warnings;      ///< what the user should know before trusting the number
  std::string digest;                     ///< of all files and overrides it was read from
};

}  // namespace gradway
