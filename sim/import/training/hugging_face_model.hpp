// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "sim/import/training/hugging_face.hpp"
#include "sim/import/training/trainer_settings.hpp"

namespace gradway {

/// What a family has where its file says nothing.
/// @source the keyword arguments of transformers' src/transformers/models/NAME/configuration_NAME.py (read in
///         2026), of each model_type NAME below
struct Defaults {
  int vocabulary, hidden, mlp, layers, heads;
  int kv_heads;   ///< 0: as many as heads
  int positions;  ///< tokens at most
  int head_size = 0;
  bool tied = false;
};

/// A model's keys as they are taken from config.json, part by part.
class HuggingFaceModel {
 public:
  using Spellings = TrainerSettings::Spellings;

  HuggingFaceModel(const SettingsFile& file, std::optional<int> asked) : settings{file}, asked_{asked} {
    draft.trainer = "Hugging Face";
    draft.file = file.text.name;
  }

  TrainerSettings settings;
  ModelDraft draft{};
  // Of what was taken.
  int heads = 1;
  int hidden = 1;
  int sequence = 0;

  int number(Spellings keys, int otherwise, int least = 1);
  bool flag(Spellings keys, bool otherwise) { return settings.boolean(keys).value_or(otherwise); }
  void put(std::string key, int value) { put(std::move(key), std::to_string(value)); }
  void put(std::string key, bool value);
  void put(std::string key, std::string value) { draft.keys.emplace_back(std::move(key), std::move(value)); }
  void put(std::string key, const char* value) { put(std::move(key), std::string{value}); }

  /// Other values would make another model.
  void only(Spellings keys, bool is_so, const std::string& what);
  void never(Spellings keys, const std::string& what) { only(keys, !flag(keys, false), what); }

  // Parts that several families have.
  /// @param has_rows a learned position has a row, so none is behind the last @return all positions
  int take_sequence(Spellings keys, int otherwise, bool has_rows = false);

  void take_activation(Spellings keys, const std::string& otherwise, bool is_gated);
  void take_blocks(const Defaults& of, Spellings layers, Spellings heads_key, Spellings hidden_key);
  void take_blocks(const Defaults& of);

  /// Without its MLP: what decoders have in common that came after Llama.
  void take_llama_like(const Defaults& of, const std::string& activation = "silu");
  void take_kv_heads(const Defaults& of);
  void take_mlp(const Defaults& of) { put("mlp", number({"intermediate_size"}, of.mlp)); }
  /// Llama's: of all four projections.
  void take_attention_bias();

  /// @param otherwise tokens, 0: none
  void take_window(int otherwise, bool is_used);
  /// @param share of a head that turns
  void put_rotary_share(double share);
  /// Which layers have none, of all that could be listed: the first ones.
  int take_dense_layers();
  /// @param more further keys of the map
  void put_experts(int number, int top_k, int mlp, const std::string& more = "");

 private:
  std::optional<int> asked_;  ///< tokens a sample
};

}  // namespace gradway
