// SPDX-License-Identifier: Apache-2.0
// torchtitan's config_registry.py, which replaced its TOML in 2026, under the names of the TOML.
#include <algorithm>

#include "readers/training/scenario_draft.hpp"
#include "sim/base/text.hpp"

namespace gradway {
namespace {

FileSetting table_named(std::string key, FileSetting::Span span) {
  FileSetting table;
  table.key = std::move(key);
  table.key_span = span;
  table.span = span;
  return table;
}

FileSetting text_named(std::string key, std::string text, FileSetting::Span span) {
  auto setting = table_named(std::move(key), span);
  setting.kind = FileSetting::Kind::text;
  setting.text = std::move(text);
  return setting;
}

/// The family in the name of a configuration: "qwen3" of "qwen3_1_7b" with the flavor "1.7B".
std::string family_in(std::string_view function, std::string_view flavor) {
  auto ending = "_" + lower_case(flavor);
  std::ranges::replace(ending, '.', '_');
  std::ranges::replace(ending, '-', '_');
  const auto end = function.find(ending);
  return std::string{function.substr(0, std::min(end, function.size()))};
}

/// `model_registry("8B", converters=[...])` as the table of a model.
FileSetting model_of(const FileSetting& registry, std::string_view function) {
  auto model = table_named("model", registry.span);
  for (const auto& argument : registry.entries) {
    if (!argument.key.empty() || argument.kind != FileSetting::Kind::text) continue;
    model.entries.push_back(text_named("name", family_in(function, argument.text), argument.span));
    model.entries.push_back(text_named("flavor", argument.text, argument.span));
    break;
  }
  return model;
}

/// Adds the converters of a model: `Float8LinearConverter.Config(recipe_name="rowwise")` are the keys of
/// quantize.linear.float8.
void add_converters(const FileSetting& list, FileSetting& model, FileSetting& root) {
  auto names = table_named("converters", list.span);
  names.kind = FileSetting::Kind::list;
  for (const auto& converter : list.entries) {
    const bool is_float8 = converter.text.starts_with("Float8LinearConverter");
    // Those of experts follow from the linear layers'.
    if (converter.text.starts_with("Float8GroupedExperts")) continue;
    names.entries.push_back(text_named("", is_float8 ? "float8" : converter.text, converter.span));
    if (!is_float8) continue;
    auto float8 = table_named("float8", converter.span);
    std::ranges::copy_if(converter.entries, std::back_inserter(float8.entries),
                         [](const FileSetting& entry) { return !entry.key.empty(); });
    auto linear = table_named("linear", converter.span);
    linear.entries.push_back(std::move(float8));
    auto quantize = table_named("quantize", converter.span);
    quantize.entries.push_back(std::move(linear));
    root.entries.push_back(std::move(quantize));
  }
  model.entries.push_back(std::move(names));
}

}  // namespace

SettingsFile torchtitan_of_registry(SettingsFile python) {
  auto& root = python.root;
  const auto* registry = root.find("model_spec");
  if (registry == nullptr) return python;
  auto model = model_of(*registry, root.key);
  const auto* of_model = registry->find("converters");
  const auto* container = root.find("model_converters");
  if (of_model == nullptr && container != nullptr) of_model = container->find("converters");
  if (of_model != nullptr) {
    const auto list = *of_model;
    add_converters(list, model, root);
  }
  root.entries.push_back(std::move(model));
  return python;
}

}  // namespace gradway
