// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/base/problem.hpp"
#include "sim/scenario/scenario.hpp"
#include "sim/trust/step_range.hpp"
#include "sim/workload/model_shape.hpp"

namespace gradway::report {

/// A scenario to run on real GPUs, with its prediction.
struct Experiment {
  std::string scenario;                                    ///< as the user named it
  std::string text;                                        ///< of its file
  std::vector<std::pair<std::string, std::string>> set{};  ///< overrides: keys with dots, and values as YAML
  ModelShape shape{};
  Seconds step_time{};
  TimeRange range{};
  std::string version;
};

/// A file of an experiment.
struct ExperimentFile {
  std::string name;
  std::string text;
};

/// Words that each file of an experiment contains, so that no other file is replaced.
inline constexpr std::string_view experiment_mark = "gradway export experiment";

/// Settings that the PyTorch program cannot have. Empty: it can be written.
std::vector<Problem> unsupported_settings(const Scenario& scenario, const ModelShape& shape);

/// The PyTorch program (2.4 to 2.11) of a scenario, and what runs it and compares its step with the
/// prediction: train.py, run.sh, check.sh, scenario.yaml, README.md.
/// @pre unsupported_settings() is empty
std::vector<ExperimentFile> experiment_files(const Scenario& scenario, const Experiment& experiment);

}  // namespace gradway::report
