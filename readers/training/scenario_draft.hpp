// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/base/problem.hpp"
#include "sim/files/settings_file.hpp"

namespace gradway {

/// A setting of a trainer's file that the scenario cannot express, or expresses differently.
struct DraftNote {
  Where where;  ///< Without a line if the file does not contain it.
  std::string text;
};

/// A scenario or a model made from a trainer's file.
struct Draft {
  std::string trainer;     ///< Name of the trainer: "DeepSpeed".
  std::size_t traces = 0;  ///< Number of traces that it was made from instead; 0: a trainer's file.
  std::string file;
  /// Keys with dots and their values as text; keys of a group are neighbours.
  std::vector<std::pair<std::string, std::string>> keys;
  std::vector<DraftNote> notes;
};

/// Options for what a trainer's file may lack; texts are empty if not given.
struct DraftOptions {
  std::string model;
  std::string platform;
  std::string precision;
  std::optional<int> gpus{};
  std::optional<int> batch{};  ///< Samples of a micro-step per GPU.
  std::optional<int> sequence{};
  std::vector<std::string> known_models{};
  /// Number of blocks of a known model; 0 if it has none.
  std::function<int(const std::string&)> blocks_of{};
};

/// A note with its place, on one line.
std::string to_text(const DraftNote& note);

/// The file, with the notes as comments at the top. @param kind it is: "scenario" or "model"
std::string draft_yaml(const Draft& draft, std::string_view kind);

/// Converts DeepSpeed's ds_config.json into a scenario.
/// @throws ConfigError with every problem: invalid values, contradictory batches, and settings that neither
/// the file nor the options give
Draft draft_of_deepspeed(const SettingsFile& file, const DraftOptions& options);

/// What a function of torchtitan's config_registry.py returns (`read_python_function`), as its TOML had it.
SettingsFile torchtitan_of_registry(SettingsFile python);

/// Converts torchtitan's TOML into a scenario. Missing keys have torchtitan's defaults.
/// @throws ConfigError with every problem: invalid values, contradictory degrees and batches, and settings
/// that neither the file nor the options give
Draft draft_of_torchtitan(const SettingsFile& file, const DraftOptions& options);

/// Reads a file of JSON that another file names; nothing if there is none beside that file or in the working
/// folder.
using ReadJson =
    std::function<std::optional<SettingsFile>(const std::string& name, const std::string& beside)>;

/// Converts the settings of Hugging Face's Trainer, TRL, accelerate, LLaMA-Factory, axolotl, ms-swift,
/// Lightning, litgpt or torchtune into a scenario. The first of several files that has a setting counts.
/// @throws ConfigError with every problem: invalid values, and settings that neither a file nor the options
/// give
Draft draft_of_finetuning(const std::vector<SettingsFile>& files, const DraftOptions& options,
                          const ReadJson& read_json);

/// A job and a model from Megatron-LM's arguments.
struct MegatronDraft {
  Draft scenario;
  Draft model;  ///< Without keys if the options name a model.
};

/// Converts Megatron-LM's arguments. Missing arguments have Megatron-LM's defaults. @param name of the model,
/// if the options do not name one
/// @throws ConfigError with every problem: invalid or contradictory values, and shapes that gradway's models
/// do not support
MegatronDraft draft_of_megatron(const ArgumentSettings& arguments, const DraftOptions& options,
                                const std::string& name);

/// Converts config.json into a model. Missing keys have the defaults of transformers.
/// @param sequence tokens per sample; empty: all positions of the model
/// @throws ConfigError with every problem: an unknown model_type, invalid values, shapes that gradway's
/// models do not support
Draft draft_of_hugging_face(const SettingsFile& file, std::optional<int> sequence);

}  // namespace gradway
