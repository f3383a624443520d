// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "writers/experiment/experiment.hpp"

namespace gradway::report {

/// Keys of a dictionary of Python, and their values as expressions.
using PythonEntries = std::vector<std::pair<std::string_view, std::string>>;

constexpr const char* python_bool(bool value) {
  return value ? "True" : "False";
}

/// A model in the program of an experiment.
struct ModelCode {
  std::string_view text;  ///< MODEL, `parameter_count()`, which needs no torch, and `build_model()`
  PythonEntries sizes;    ///< the entries of MODEL
  int classes = 0;        ///< or size of the vocabulary
  int image_size = 0;     ///< 0: a model of text
};

ModelCode model_code(const Scenario& scenario, const ModelShape& shape);

}  // namespace gradway::report
