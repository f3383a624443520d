// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "sim/config/config.hpp"

namespace gradway {

/// The options of `gradway init`.
struct FirstScenarioRequest {
  std::string model;
  std::string model_file{};  ///< file to read the model from; empty: it is looked up by its name
  std::string platform;
  int gpus = 1;
  std::string strategy{};   ///< as `strategy.kind`; empty: none on one GPU, else ddp if it fits, else fsdp
  std::string framework{};  ///< as `job.framework`; empty: the strategy's, else pytorch
};

/// Dotted keys of a scenario and their values as written, in the order of the file.
using ScenarioSettings = std::vector<std::pair<std::string, std::string>>;

struct FirstScenario {
  ScenarioSettings settings;
  std::string recipe{};  ///< origin of the settings, with its source; empty if there is no recipe
  bool is_text = false;  ///< the model's samples are sequences of tokens
  bool fits = true;      ///< into the GPU's memory, as far as that is known
};

/// Samples of a step of a recommendation model.
/// @source github.com/mlcommons/training, recommendation_v2/torchrec_dlrm: the global batch of the reference
inline constexpr int samples_of_recommender_step = 65536;
/// Images of a step. @source github.com/pytorch/vision, references/classification, README.md: ResNet-50's
/// recipe has 128 images on each of 8 GPUs
inline constexpr int images_of_step = 1024;

/// Whether the kernels of a model come from a profile or a capture, with its batch, precision and optimizer.
bool is_recorded(const Model& model);

/// The YAML text of a scenario with exactly these settings.
std::string scenario_text(const ScenarioSettings& settings);

/// A scenario to start from, with the settings of a recipe that users of the framework run for such a model:
/// 16 bits where the GPU supports them, the requested strategy or the simplest that fits, the least
/// recomputation that fits, and the largest power of two of samples that fits, up to 8 of text or a GPU's
/// share of a step of images or of a recommendation model. A profile has its own precision, optimizer and
/// batch.
/// @param file where the scenario will be written
/// @throws ConfigError for unknown names, and for contradictions at their place in the scenario's text
FirstScenario first_scenario(const FirstScenarioRequest& request, const std::string& file,
                             const DataPath& data);

/// The same settings for one sample per GPU, with the first strategy of the recipe: memory is not looked at.
/// For searches that choose batch, recomputation and layout themselves.
ScenarioSettings recipe_settings(const FirstScenarioRequest& request, const DataPath& data);

}  // namespace gradway
