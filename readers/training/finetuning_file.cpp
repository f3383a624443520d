// SPDX-License-Identifier: Apache-2.0
#include "readers/training/finetuning_file.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "sim/base/nearest.hpp"
#include "sim/base/text.hpp"
#include "sim/dialects/dialect.hpp"

namespace gradway {
namespace {

using Kind = FileSetting::Kind;

class Renamed {
 public:
  explicit Renamed(const SettingsFile& file) : named_{file.text, {}} {
    for (const auto& entry : file.root.entries) add(entry, "");
    for (auto& entry : renamed_)
      if (named_.root.find(entry.key) == nullptr) named_.root.entries.push_back(std::move(entry));
  }

  SettingsFile take() { return std::move(named_); }

 private:
  void add(const FileSetting& entry, const std::string& group) {
    if (entry.kind == Kind::table) {
      // xtuner: lora=dict(type=LoraConfig, r=64)
      if (entry.key == "lora")
        renamed_.push_back({.kind = Kind::boolean, .key = "use_peft", .text = "true", .span = entry.span});
      // Lightning writes what a class takes beside its name.
      for (const auto& inside : entry.entries) add(inside, entry.key == "init_args" ? group : entry.key);
      return;
    }
    auto setting = entry;
    std::ranges::replace(setting.key, '-', '_');
    // LLaMA-Factory's, of which sft and pt have the step that gradway predicts.
    if (group.empty() && setting.key == "stage" && setting.text != "sft" && setting.text != "pt")
      setting.key = "rlhf_type";
    if (group == "strategy" && setting.key == "stage") setting.key = "zero_stage";
    if (setting.key == "_component_" || setting.key == "class_path") {
      if (group != "model" && group != "optimizer" && group != "loss" && group != "strategy") return;
      if (group == "model" && setting.key == "class_path") return;
      setting.key = group;
      setting.text = last_name(entry.text);
    }
    const auto& dialect = dialects::finetuning();
    if (dialect.find(setting.key) != nullptr || is_unused(setting.key)) {
      if (named_.root.find(setting.key) == nullptr) named_.root.entries.push_back(std::move(setting));
      return;
    }
    for (const auto& row : dialect.others) {
      if (row.kind != "renamed" || row.word(0) != setting.key) continue;
      setting.key = row.word(1);
      return renamed_.push_back(std::move(setting));
    }
    std::vector<std::string> names;
    for (const auto& row : dialect.settings) names.emplace_back(row.theirs);
    if (setting.key.size() > 6 && !nearest(setting.key, names).empty())
      named_.root.entries.push_back(std::move(setting));
  }

  static bool is_unused(std::string_view key) {
    return std::ranges::count(dialects::finetuning().unused, key, &UnusedKey::key) > 0;
  }

  SettingsFile named_;
  std::vector<FileSetting> renamed_{};  ///< names of the dialect have precedence
};

bool has_key(const FileSetting& table, std::string_view key) {
  return std::ranges::any_of(table.entries, [&](const FileSetting& entry) {
    return entry.key == key || (entry.kind == Kind::table && has_key(entry, key));
  });
}

}  // namespace

std::string last_name(std::string_view text) {
  return std::string{text.substr(text.find_last_of("./") + 1)};
}

SettingsFile with_dialect_names(const SettingsFile& file) {
  for (const auto* key : {"tensor_model_parallel_size", "pipeline_model_parallel_size"})
    if (const auto* setting = file.root.find(key))
      refuse_at(file.key_place(*setting), fmt::format("'{}' is a setting of Megatron-LM", key),
                "read the file with 'gradway import megatron'; --model and --sequence give what it lacks");
  return Renamed{file}.take();
}

const TextRow& program_of(const SettingsFile& file) {
  const TextRow* last = nullptr;
  for (const auto& row : dialects::finetuning().others) {
    if (row.kind != "program") continue;
    last = &row;
    const bool is_group = row.value("group") == "true";
    for (const auto key : words_in(row.value("keys"))) {
      const auto* setting = file.root.find(key);
      if (is_group ? setting != nullptr && setting->kind == Kind::table : has_key(file.root, key)) return row;
    }
  }
  return *last;
}

}  // namespace gradway
