// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "sim/import/training/scenario_draft.hpp"
#include "sim/import/training/trainer_settings.hpp"

namespace gradway {

/// Default values of a model family.
/// @source the keyword arguments of transformers' src/transformers/models/NAME/configuration_NAME.py (read in
/// 2026), for each model_type NAME
struct Defaults {
  int vocabulary, hidden, mlp, layers, heads;
  int kv_heads;   ///< 0: as many as heads.
  int positions;  ///< Maximum tokens per sample.
  int head_size = 0;
  bool tied = false;
};

/// Reads a model's keys from config.json, part by part.
class HuggingFaceModel {
 public:
  using Spellings = TrainerSettings::Spellings;

  HuggingFaceModel(const SettingsFile& file, std::optional<int> asked)
      : settings{file, dialects::hugging_face}, asked_{asked} {
    draft.trainer = "Hugging Face";
    draft.file = file.text.name;
  }

  TrainerSettings settings;
  ModelDraft draft{};
  // Values read so far.
  int heads = 1;
  int hidden = 1;
  int sequence = 0;
  int head_size = 0;  ///< 0: hidden / heads.

  int number(Spellings keys, int otherwise, int least = 1);
  bool flag(Spellings keys, bool otherwise) { return settings.boolean(keys).value_or(otherwise); }
  void put(std::string key, int value) { put(std::move(key), std::to_string(value)); }
  void put(std::string key, bool value);
  void put(std::string key, std::string value) { draft.keys.emplace_back(std::move(key), std::move(value)); }
  void put(std::string key, std::string_view value) { put(std::move(key), std::string{value}); }
  void put(std::string key, const char* value) { put(std::move(key), std::string{value}); }

  /// Adds a problem unless `is_so`: gradway does not support other values.
  void require(Spellings keys, bool is_supported, const std::string& message);
  void reject(Spellings keys, const std::string& message) { require(keys, !flag(keys, false), message); }

  // Parts that several families share.
  /// @param has_rows whether positions are learned, so that a sample cannot be longer @return number of
  /// positions
  int read_sequence(Spellings keys, int otherwise, bool has_rows = false);

  void read_activation(Spellings keys, const std::string& otherwise, bool is_gated);
  void read_blocks(const Defaults& defaults, Spellings layers, Spellings heads_key, Spellings hidden_key);
  void read_blocks(const Defaults& defaults);

  /// The parts shared by decoders after Llama, except the MLP.
  void read_llama_like(const Defaults& defaults, const std::string& activation = "silu");
  void read_kv_heads(const Defaults& defaults);
  void read_mlp(const Defaults& defaults) { put("mlp", number({"intermediate_size"}, defaults.mlp)); }
  /// Biases of all four projections, as in Llama.
  void read_attention_bias();

  /// Dropout after attention and MLP, and of attention's probabilities. @param otherwise, of_attention
  /// defaults
  void read_dropout(Spellings keys, double otherwise, double of_attention);
  /// @param otherwise default in tokens; 0: no window
  void read_window(int otherwise, bool is_used);
  /// @param share of a head that is rotated
  void put_rotary_share(double share);
  /// Number of dense layers, which must be the first ones.
  int read_dense_layers();
  /// @param further_keys further keys of the map
  void put_experts(int number, int top_k, int mlp, const std::string& further_keys = "");

 private:
  std::optional<int> asked_;  ///< Tokens per sample given by the user.
};

}  // namespace gradway
