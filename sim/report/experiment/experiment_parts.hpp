// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "sim/report/experiment/experiment.hpp"

namespace gradway::report {

/// Python: MODEL, a dictionary of the model's sizes, `parameter_count()`, which needs no torch, and
/// `build_model()`, which returns the model and its repeated blocks.
std::string model_code(const Scenario& scenario, const ModelShape& shape);

constexpr const char* python_bool(bool value) {
  return value ? "True" : "False";
}

/// Python of all experiments: data, optimizer, the timed loop, profilers and results.
std::string_view training_code();

}  // namespace gradway::report
