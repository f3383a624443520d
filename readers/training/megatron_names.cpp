// SPDX-License-Identifier: Apache-2.0
// Keys of NeMo's and Megatron-Bridge's YAML as Megatron-LM's arguments.
#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

#include <fmt/format.h>

#include "readers/training/scenario_draft.hpp"
#include "readers/training/trainer_settings.hpp"
#include "sim/dialects/model_names.hpp"

namespace gradway {
namespace {

using Kind = FileSetting::Kind;

std::string_view last_group(const FileSetting& setting) {
  const std::string_view group = setting.group;
  return group.substr(std::min(group.rfind('.') + 1, group.size()));
}

/// Whether groups are those of NeMo or Megatron-Bridge.
bool has_their_groups(const FileSetting& root) {
  const auto has = [&](std::string_view group) {
    return std::ranges::any_of(root.entries, [&](const FileSetting& setting) {
      return setting.group == group || setting.group.starts_with(fmt::format("{}.", group));
    });
  };
  return has("model") && (has("train") || has("trainer"));
}

/// Adds settings under Megatron-LM's names.
class Renaming {
 public:
  explicit Renaming(ArgumentSettings& target) : to_{target} {}

  void add(const FileSetting& setting) {
    if (setting.kind == Kind::null || setting.key.starts_with('_')) return;
    if (add_precision(setting) || add_optimizer(setting) || add_shape(setting)) return;
    const auto group = last_group(setting);
    for (const auto& row : dialects::megatron().others) {
      const auto needed = row.value("group");
      if (row.kind == "renamed" && row.word(0) == setting.key && (needed.empty() || needed == group))
        return put(setting, row.word(1), text_of(setting, row.value("negated") == "true"));
      if (row.kind == "groups" && std::ranges::count(row.words, group) > 0)
        return put(setting, setting.key, setting.text);
    }
  }

 private:
  static std::string text_of(const FileSetting& setting, bool is_negated) {
    if (!is_negated || setting.kind != Kind::boolean) return setting.text;
    return setting.text == "true" ? "false" : "true";
  }

  void put(const FileSetting& from, std::string_view key, std::string text) {
    auto setting = from;
    setting.key = key;
    setting.group.clear();
    setting.text = std::move(text);
    auto& entries = to_.file.root.entries;
    const auto existing = std::ranges::find(entries, setting.key, &FileSetting::key);
    existing == entries.end() ? entries.push_back(std::move(setting)) : std::swap(*existing, setting);
  }

  void put_switch(FileSetting from, std::string_view key) {
    from.kind = Kind::boolean;
    put(from, key, "true");
  }

  void put_word(FileSetting from, std::string_view key, std::string_view word) {
    from.kind = Kind::text;
    put(from, key, std::string{word});
  }

  /// Reads `trainer.precision` of NeMo and `mixed_precision` of Megatron-Bridge.
  bool add_precision(const FileSetting& setting) {
    const std::string_view word = setting.text;
    const bool is_nemo = setting.key == "precision" && last_group(setting) == "trainer";
    if (!is_nemo && (setting.key != "mixed_precision" || !setting.group.empty())) return false;
    const bool is_bf16 = word.starts_with("bf16");
    if (is_bf16 || word.starts_with("fp16") || word.starts_with("16"))
      put_switch(setting, is_bf16 ? "bf16" : "fp16");
    for (const auto& row : dialects::megatron().others) {
      if (row.kind != "precision" || !word.ends_with(fmt::format("_with_{}", row.word(0)))) continue;
      put_word(setting, "fp8_format", row.value("format"));
      put_word(setting, "fp8_recipe", row.value("recipe"));
    }
    if (word.ends_with("_with_nvfp4_mixed")) put_word(setting, "fp4_format", "e2m1");
    return true;
  }

  /// Reads `optim.name` of NeMo.
  bool add_optimizer(const FileSetting& setting) {
    if (setting.key == "name" && last_group(setting) == "optim") {
      const bool is_of_megatron = setting.text == "mcore_distributed_optim";
      if (is_of_megatron || setting.text.starts_with("distributed_"))
        put_switch(setting, "use_distributed_optimizer");
      const bool is_adam = is_of_megatron || setting.text.ends_with("fused_adam");
      put_word(setting, "optimizer", is_adam ? std::string_view{"adam"} : std::string_view{setting.text});
      return true;
    }
    if (setting.key != "grad_sync_dtype") return false;
    if (setting.text == "bf16" || setting.text == "torch.bfloat16")
      put_switch(setting, "grad_reduce_in_bf16");
    return true;
  }

  /// Reads keys of which one value says what Megatron-LM has several arguments for.
  bool add_shape(const FileSetting& setting) {
    if (setting.key == "num_query_groups") put_switch(setting, "group_query_attention");
    if (setting.key == "fp8_e4m3" || setting.key == "fp8_hybrid") {
      if (setting.text == "true") put_word(setting, "fp8_format", setting.key.substr(4));
      return true;
    }
    if (setting.key == "fp8" && setting.kind == Kind::boolean) return true;  // NeMo has the format beside it.
    if (setting.key == "bias_activation_fusion") {
      const auto text = text_of(setting, true);
      put(setting, "no_bias_swiglu_fusion", text);
      put(setting, "no_bias_gelu_fusion", text);
      return true;
    }
    if (setting.key == "activation") {
      if (setting.text.ends_with("swiglu")) put_switch(setting, "swiglu");
      return true;
    }
    if (setting.key != "normalization") return false;
    put_word(setting, "normalization",
             setting.text == "rmsnorm" || setting.text == "RMSNorm" ? "RMSNorm" : "LayerNorm");
    return true;
  }

  ArgumentSettings& to_;
};

}  // namespace

ArgumentSettings megatron_arguments(const ArgumentSettings& arguments) {
  ArgumentSettings named{{arguments.file.text, {}}, arguments.replaced};
  if (has_their_groups(arguments.file.root)) {
    Renaming renaming{named};
    for (const auto& setting : arguments.file.root.entries) renaming.add(setting);
    return named;
  }
  auto& entries = named.file.root.entries;
  for (const auto& setting : arguments.file.root.entries) {
    const auto existing = std::ranges::find(entries, setting.key, &FileSetting::key);
    if (existing == entries.end()) {
      entries.push_back(setting);
      continue;
    }
    if (existing->text != setting.text) named.replaced.push_back(*existing);
    *existing = setting;
  }
  return named;
}

std::string model_named_in(const SettingsFile& file, const DraftOptions& options) {
  constexpr std::array<std::string_view, 7> keys{"model",
                                                 "recipe",
                                                 "recipe_name",
                                                 "model_name",
                                                 "hf_path",
                                                 "pretrained_model_name_or_path",
                                                 "model_name_or_path"};
  constexpr std::array<std::string_view, 7> endings{".yaml", "_config", "_pretrain", "_finetune",
                                                    "_sft",  "_peft",   "-pretrain"};
  for (const auto& entry : file.root.entries) {
    if (entry.key == "num_layers") return {};
    if (std::ranges::find(keys, entry.key) == keys.end() || entry.kind != FileSetting::Kind::text) continue;
    std::string_view name = entry.text;
    for (const auto ending : endings)
      if (name.ends_with(ending)) name.remove_suffix(ending.size());
    if (const auto alike = models_alike(name, options.known_models); alike.size() == 1) return alike.front();
  }
  return {};
}

std::pair<int, int> zeros_and_ones(std::string text) {
  std::erase_if(text, [](char c) { return c == ' ' || c == '(' || c == ')'; });
  int zeros = 0;
  int ones = 0;
  const std::string_view first = "[0]*";
  const std::string_view second = "+[1]*";
  const auto plus = text.find(second);
  if (text.starts_with(first) && plus != std::string::npos) {
    std::from_chars(text.data() + first.size(), text.data() + plus, zeros);
    std::from_chars(text.data() + plus + second.size(), text.data() + text.size(), ones);
  }
  if (text != fmt::format("[0]*{}+[1]*{}", zeros, ones)) return {};
  return {zeros, ones};
}

}  // namespace gradway
