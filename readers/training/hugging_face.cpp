// SPDX-License-Identifier: Apache-2.0
#include "readers/training/scenario_draft.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "readers/training/hugging_face_model.hpp"
#include "sim/workload/operation.hpp"

namespace gradway {
namespace {

using Model = HuggingFaceModel;

/// Reader for a model_type.
struct Reader {
  std::string_view model_type;
  void (*take)(Model&);
};
constexpr auto readers = std::to_array<Reader>({
    {"bert", read_bert},
    {"t5", read_t5},
    {"vit", read_vit},
    {"whisper", read_whisper},
});

constexpr auto where_to_describe =
    "describe the model in a model file, or capture your program: docs/my-model.md shows both";

bool read_known(Model& model, std::string_view model_type) {
  for (const auto& row : dialects::hugging_face().others)
    if (row.kind == "alias" && row.word(0) == model_type) model_type = row.word(1);
  const auto reader = std::ranges::find(readers, model_type, &Reader::model_type);
  if (reader == readers.end()) return read_known_decoder(model, model_type);
  reader->take(model);
  return true;
}

void refuse_unknown(Model& model, const std::string& type, const std::vector<std::string_view>& missing) {
  std::vector<std::string_view> names;
  for (const auto& reader : readers) names.push_back(reader.model_type);
  for (const auto& row : dialects::hugging_face().others)
    if (row.kind != "sizes" && row.kind != "sound") names.push_back(row.word(0));
  std::ranges::sort(names);
  model.settings.problem(
      "model_type",
      fmt::format("unknown 'model_type: {}', and the file has no {}, by which a decoder would "
                  "be read. Known: {}",
                  type, fmt::join(missing, ", "), fmt::join(names, ", ")),
      where_to_describe);
}

void read_family(Model& model) {
  const auto type = model.settings.text("model_type");
  if (const auto name = model.settings.text("_class_name"); name && !type)
    return model.settings.problem(
        "_class_name", fmt::format("gradway does not read the models of diffusers, such as this {}", *name),
        "capture your training program: docs/my-program.md");
  if (!type)
    return model.settings.problem(model.settings.whole(), "the file has no 'model_type'",
                                  "give the config.json in the folder of a model's weights");
  if (read_known(model, *type)) return;
  const auto missing = missing_decoder_keys(model);
  if (!missing.empty()) return refuse_unknown(model, *type, missing);
  model.require("is_encoder_decoder", !model.flag("is_encoder_decoder", false),
                fmt::format("gradway does not know the encoder and decoder of model_type {}", *type));
  read_decoder_by_keys(model);
  model.settings.note(
      "model_type",
      "unknown to gradway, so the model is read by its keys as a decoder like Llama; compare its "
      "number of parameters ('gradway show model') with the published one");
  model.settings.refuse_unknown(where_to_describe);
}

/// The settings of the text part of a model with images, with those keys of the whole that it lacks.
SettingsFile text_part(const SettingsFile& file) {
  auto merged = file;
  for (const auto* key : {"text_config", "llm_config", "language_config"}) {
    const auto* text = file.root.find(key);
    if (text == nullptr || text->kind != FileSetting::Kind::table || text->find("model_type") == nullptr)
      continue;
    merged.root = *text;
    for (const auto& entry : file.root.entries) {
      const bool is_value = entry.kind != FileSetting::Kind::table && entry.key != "architectures";
      if (is_value && text->find(entry.key) == nullptr) merged.root.entries.push_back(entry);
    }
  }
  return merged;
}

}  // namespace

Draft draft_of_hugging_face(const SettingsFile& whole, std::optional<int> sequence) {
  // Of Qwen-Omni, the part that writes text; its other parts, which speak, are trained apart.
  const auto* thinker = whole.root.find("thinker_config");
  auto file = whole;
  if (thinker != nullptr) file.root = *thinker;
  const auto text = text_part(file);
  Model model{text, sequence};
  read_family(model);
  model.put("implementation", name_of(Implementation::hugging_face));
  const auto* type = file.root.find("model_type");
  std::vector<std::string_view> left_out;
  const auto read_part = [&](const char* key, const char* name, auto read) {
    const auto* settings = file.root.find(key);
    if (settings == nullptr) return;
    auto part = file;
    part.root = *settings;
    if (type == nullptr || !read(model, part, type->text)) left_out.emplace_back(name);
  };
  read_part("vision_config", "images", read_tower);
  read_part("audio_config", "sound", read_sound_tower);
  if (thinker != nullptr) left_out.emplace_back("speech");
  if (!left_out.empty())
    model.settings.note_missing(
        fmt::format("the part for {} is left out: the model reads and writes its tokens; docs/my-program.md "
                    "captures a program with it",
                    fmt::join(left_out, " and that for ")));
  model.settings.note_unused();
  model.settings.raise();
  model.draft.notes = model.settings.notes();
  return std::move(model.draft);
}

}  // namespace gradway
