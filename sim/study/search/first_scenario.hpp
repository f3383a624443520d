// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "sim/config/config.hpp"

namespace gradway {

/// What a first scenario is asked for.
struct FirstScenarioRequest {
  std::string model;
  std::string model_file{};  ///< where the model is read from; empty: its name finds it
  std::string platform;
  int gpus = 1;
  std::string strategy{};   ///< as `strategy.kind`; empty: none on one GPU, else ddp if it fits, or fsdp
  std::string framework{};  ///< as `job.framework`; empty: the strategy's, else pytorch
};

/// Keys of a scenario with dots and their values as they are written, in the order of the file.
using ScenarioSettings = std::vector<std::pair<std::string, std::string>>;

struct FirstScenario {
  ScenarioSettings settings;
  std::string recipe{};  ///< whose settings these are, with its source; empty: nobody's
  bool is_text = false;  ///< the model has samples of tokens
  bool fits = true;      ///< into the GPU's memory, as far as that is known
};

/// The text of a scenario that says this and nothing else.
std::string scenario_text(const ScenarioSettings& settings);

/// A scenario to start from, with the settings of a recipe that the framework's own users run for such a
/// model: 16 bits where the GPU has them, the strategy that is asked for or else the simplest that fits, as
/// little computed again as fits, and a batch of a power of two of samples: at most 8 of text, 32 of images.
/// A profile brings its own precision, optimizer and batch.
/// @param file where it will stand
/// @throws ConfigError for names that nothing has, and for what does not go together, at its place in `text`
FirstScenario first_scenario(const FirstScenarioRequest& request, const std::string& file,
                             const DataPath& data);

}  // namespace gradway
