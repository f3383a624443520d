// SPDX-License-Identifier: Apache-2.0
#include "sim/study/search/input_settings.hpp"

#include <algorithm>

#include "sim/scenario/field_tables.hpp"
#include "sim/scenario/shared_by_loaders.hpp"
#include "sim/scenario/value_text.hpp"

namespace gradway {
namespace {

/// Powers of two up to the hardware threads per rank.
std::vector<std::string> numbers_of_workers(const Scenario& scenario) {
  const int most = loader_threads_of_a_rank(scenario.platform, scenario.job.gpus);
  std::vector<std::string> values;
  for (int workers = 1; workers <= most; workers *= 2) values.push_back(std::to_string(workers));
  return values;
}

}  // namespace

const std::vector<std::string_view>& input_settings() {
  static const std::vector<std::string_view> names{
      "input.loader_workers", "input.prefetch_factor", "input.storage",
      "input.decode",         "input.pin_memory",      "input.codec",
      "input.cache",          "input.dataset",         "input.cache_policy"};
  return names;
}

std::vector<std::string> usual_values(const Scenario& scenario, std::string_view key, const DataPath& data) {
  const auto& input = scenario.job.input;
  if (key == "input.loader_workers") return numbers_of_workers(scenario);
  if (key == "input.prefetch_factor") return {"1", "2", "4", "8"};
  if (key == "input.pin_memory") return {"true", "false"};
  if (key == "input.storage") return list_names(DataKind::storage, data);
  if (key == "input.decode" && input.dataset->gpu_decode > Seconds{}) return {"cpu", "gpu"};
  std::vector<std::string> values;
  if (key == "input.codec" && input.dataset->compressible)
    for (const auto& codec : codecs()) values.emplace_back(codec.name);
  if (key == "input.cache_policy" && input.cache)
    for (const auto policy : cache_policy_words) values.emplace_back(policy);
  return values;
}

std::optional<std::string> written_value(const InputSettings& input, std::string_view key) {
  const auto name = [](const std::string& text) { return text.empty() ? std::nullopt : std::optional{text}; };
  if (key == "input.storage" && input.storage) return name(input.storage->name);
  if (key == "input.dataset" && input.dataset) return name(input.dataset->name);
  if (key == "input.codec" && input.codec) return std::string{input.codec->name};
  if (key == "input.cache" && input.cache)
    return std::string{Cache::kind_words[static_cast<std::size_t>(input.cache->kind)]};
  if (key == "input.cache_policy" && input.cache)
    return std::string{cache_policy_words[static_cast<std::size_t>(input.cache->policy)]};
  const Record settings{input};
  const auto field = std::ranges::find(settings.fields(), key.substr(key.find('.') + 1), &Field::key);
  if (field == settings.fields().end() || field->is_custom) return std::nullopt;
  return value_text(field->kind, settings.value(*field));
}

}  // namespace gradway
