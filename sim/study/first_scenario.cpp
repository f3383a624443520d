// SPDX-License-Identifier: Apache-2.0
#include "sim/study/first_scenario.hpp"

#include <algorithm>
#include <bit>
#include <optional>

#include <fmt/format.h>

#include "sim/plan/memory.hpp"
#include "sim/study/largest_batch.hpp"

namespace gradway {
namespace {

constexpr int most_texts = 8;
constexpr int most_images = 32;

std::string precision_for(const Gpu& gpu) {
  const auto has = [&](Precision precision) {
    return gpu.peak[static_cast<std::size_t>(precision)].has_value();
  };
  if (gpu.ideal) return "fp32";
  return has(Precision::bf16) ? "bf16" : has(Precision::fp16) ? "fp16" : "fp32";
}

/// A way to train that is tried.
struct Way {
  std::string strategy;
  bool recomputes = false;
};

ScenarioSettings settings_of(const FirstScenarioRequest& request, const Way& way, int batch,
                             const std::string& precision) {
  ScenarioSettings settings{{"schema", "1"},
                            {"model", request.model},
                            {"platform", request.platform},
                            {"job.gpus", fmt::to_string(request.gpus)},
                            {"job.batch_per_gpu", fmt::to_string(batch)}};
  if (!precision.empty()) settings.emplace_back("job.precision", precision);
  if (way.recomputes) settings.emplace_back("job.recompute", "full");
  settings.emplace_back("strategy.kind", way.strategy);
  if (!precision.empty()) settings.emplace_back("optimizer", "adamw");
  return settings;
}

/// The largest power of two up to `most` that fits; nothing if not even one sample does.
std::optional<int> batch_for(const Scenario& scenario, int most) {
  if (scenario.platform.gpu_models.front().ideal || !knows_memory(scenario)) return most;
  try {
    return static_cast<int>(
        std::bit_floor(static_cast<unsigned>(std::min(most, largest_batch(scenario).batch))));
  } catch (const ConfigError&) {
    return std::nullopt;
  }
}

/// From the simplest on.
std::vector<Way> ways_for(const FirstScenarioRequest& request, const Model& model) {
  std::vector<Way> ways{{request.strategy}};
  if (request.strategy.empty()) ways = {{request.gpus == 1 ? "none" : "ddp"}};
  if (request.strategy.empty() && request.gpus > 1) ways.push_back({"fsdp"});
  const bool has_blocks = !model.profile && model.tokens_per_sample > 0;
  if (has_blocks) ways.push_back({ways.back().strategy, true});
  return ways;
}

}  // namespace

std::string scenario_text(const ScenarioSettings& settings) {
  std::string text;
  std::string group;
  for (const auto& [key, value] : settings) {
    const auto dot = key.find('.');
    const auto its_group = dot == std::string::npos ? "" : key.substr(0, dot);
    if (!its_group.empty() && its_group != group) text += its_group + ":\n";
    group = its_group;
    text += group.empty() ? fmt::format("{}: {}\n", key, value)
                          : fmt::format("  {}: {}\n", key.substr(dot + 1), value);
  }
  return text;
}

FirstScenario first_scenario(const FirstScenarioRequest& request, const std::string& file,
                             const DataPath& data) {
  const auto model = load_model(request.model, data);
  const auto platform = load_platform(request.platform, request.gpus, data);
  const auto precision = model.profile ? "" : precision_for(platform.gpu_models.front());
  FirstScenario found;
  found.is_text = model.tokens_per_sample > 0;
  const auto most = found.is_text ? most_texts : most_images;
  for (const auto& way : ways_for(request, model)) {
    const int written = model.profile ? model.profile->batch : 1;
    found.settings = settings_of(request, way, written, precision);
    const auto scenario = load_scenario_text(scenario_text(found.settings), file, data);
    const auto batch = batch_for(scenario, model.profile ? written : most);
    found.fits = batch.has_value();
    if (found.fits) {
      found.settings = settings_of(request, way, *batch, precision);
      break;
    }
  }
  return found;
}

}  // namespace gradway
