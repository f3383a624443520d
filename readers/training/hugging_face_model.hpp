// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "readers/training/scenario_draft.hpp"
#include "readers/training/trainer_settings.hpp"

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
  HuggingFaceModel(const SettingsFile& file, std::optional<int> asked)
      : settings{file, dialects::hugging_face()}, asked_{asked} {
    draft.trainer = "Hugging Face";
    draft.file = file.text.name;
  }

  TrainerSettings settings;
  Draft draft{};
  // Values read so far.
  int heads = 1;
  int hidden = 1;
  int sequence = 0;
  int head_size = 0;  ///< 0: hidden / heads.

  int number(std::string_view keys, int otherwise, int least = 1);
  bool flag(std::string_view keys, bool otherwise) { return settings.boolean(keys).value_or(otherwise); }
  template <class Value>
  void put(std::string key, const Value& value) {
    draft.keys.emplace_back(std::move(key), fmt::format("{}", value));
  }

  /// Adds a problem unless `is_so`: gradway does not support other values.
  void require(std::string_view keys, bool is_supported, const std::string& message);
  void reject(std::string_view keys, const std::string& message) {
    require(keys, !flag(keys, false), message);
  }

  // Parts that several families share.
  /// @param has_rows whether positions are learned, so that a sample cannot be longer @return number of
  /// positions
  int read_sequence(std::string_view keys, int otherwise, bool has_rows = false);

  void read_activation(std::string_view keys, const std::string& otherwise, bool is_gated);
  void read_blocks(const Defaults& defaults);

  void read_kv_heads(const Defaults& defaults);
  /// Dropout after attention and MLP, and of attention's probabilities. @param otherwise, of_attention
  /// defaults
  void read_dropout(double otherwise, double of_attention);
  /// @param share of a head that is rotated
  void put_rotary_share(double share);
  /// Number of dense layers, which must be the first ones.
  int read_dense_layers();
  /// @param further_keys further keys of the map
  void put_experts(int number, int top_k, int mlp, const std::string& further_keys = "");

 private:
  std::optional<int> asked_;  ///< Tokens per sample given by the user.
};

// Readers of config.json of these families.
void read_t5(HuggingFaceModel& model);
void read_bert(HuggingFaceModel& model);
void read_whisper(HuggingFaceModel& model);
void read_vit(HuggingFaceModel& model);

/// Reads the encoder of images of a model, which is trained with its text part. @param vision the file with
/// its vision_config as root @return whether gradway knows its parts
bool read_tower(HuggingFaceModel& text, const SettingsFile& vision, std::string_view model_type);

/// Likewise its encoder of sound. @param audio the file with its audio_config as root
bool read_sound_tower(HuggingFaceModel& text, const SettingsFile& audio, std::string_view model_type);

/// Reads a decoder of a family whose differences from Llama are in a table. @return whether it is in the
/// table
bool read_known_decoder(HuggingFaceModel& model, std::string_view model_type);

/// The keys that a file of unknown model_type needs to be read as a decoder, and lacks.
std::vector<std::string_view> missing_decoder_keys(HuggingFaceModel& model);
/// Reads a decoder by its keys alone. @pre no key is missing
void read_decoder_by_keys(HuggingFaceModel& model);

}  // namespace gradway
