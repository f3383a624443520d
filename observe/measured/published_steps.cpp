// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>

#include "observe/measured/measured_step.hpp"
#include "sim/base/problem.hpp"
#include "sim/config/config.hpp"
#include "sim/scenario/strategy_facts.hpp"
#include "sim/scenario/strategy_words.hpp"

namespace gradway {
namespace {

namespace fs = std::filesystem;

/// The shipped files of measured steps.
std::vector<std::string> files_of_cases(const DataPath& data) {
  std::vector<std::string> files;
  std::error_code error;
  for (const auto& root : data.roots) {
    for (const auto& entry : fs::recursive_directory_iterator{root / "scenarios", error}) {
      if (entry.path().extension() != ".yaml") continue;
      std::ifstream file{entry.path()};
      for (std::string line; std::getline(file, line);) {
        if (!line.starts_with("cases:")) continue;
        files.push_back(entry.path().string());
        break;
      }
    }
  }
  std::ranges::sort(files);
  return files;
}

/// The GPU of a scenario as it is written; "" if it needs overrides.
std::string gpu_of(const std::string& scenario, const DataPath& data) {
  try {
    return load_scenario(scenario, {}, data).platform.gpu_models.front().name;
  } catch (const ConfigError&) {
    return "";
  }
}

double tokens_of(const Scenario& scenario) {
  return std::max(1, scenario.job.sequence > 0 ? scenario.job.sequence : scenario.model.tokens_per_sample);
}

/// How unlike two jobs are: logarithms of ratios, and a step for each other word.
double distance(const Scenario& a, const Scenario& b) {
  constexpr double of_size = 0.3;
  const auto ratio = [](double x, double y) { return std::abs(std::log(x / y)); };
  const auto work = [](const Scenario& scenario) {
    return scenario.job.samples() * tokens_of(scenario) / scenario.job.gpus;
  };
  return ratio(static_cast<double>(a.model.parameter_count()),
               static_cast<double>(b.model.parameter_count())) +
         of_size * ratio(a.job.gpus, b.job.gpus) + of_size * ratio(work(a), work(b)) +
         (a.job.strategy.index() == b.job.strategy.index() ? 0 : 1) +
         (a.job.precision == b.job.precision ? 0 : 1) + (a.model.name == b.model.name ? 0 : of_size);
}

}  // namespace

PublishedStep step_of(const Scenario& scenario, Seconds time) {
  return {.model = scenario.model.name,
          .strategy = std::string{name_of(scenario.job.strategy)},
          .gpus = scenario.job.gpus,
          .time = time,
          .samples = scenario.job.samples() / scenario.job.gpus / time.value(),
          .tokens = tokens_of(scenario) > 1 ? tokens_of(scenario) : 0};
}

std::vector<PublishedStep> closest_published_steps(const Scenario& scenario, const DataPath& data,
                                                   std::size_t most) {
  const auto cached = with_file_cache(data);
  const auto& gpu = scenario.platform.gpu_models.front().name;
  std::map<std::string, std::string> gpus;  // of scenarios
  std::vector<std::pair<double, PublishedStep>> steps;
  for (const auto& file : files_of_cases(data)) {
    const auto cases = load_cases(file, cached);
    for (const auto& row : cases.cases) {
      if (row.bus_bandwidth) continue;
      const bool sets_platform = std::ranges::any_of(
          row.set, [](const Override& change) { return change.key.starts_with("platform"); });
      auto& written = gpus.try_emplace(row.scenario_file, "?").first->second;
      if (written == "?") written = gpu_of(row.scenario_file, cached);
      if (!sets_platform && !written.empty() && written != gpu) continue;
      try {
        const auto published = load_scenario(row.scenario_file, row.set, cached);
        if (published.platform.gpu_models.front().name != gpu || !trains(published.job.strategy)) continue;
        auto step = step_of(published, row.measured);
        step.name = row.name;
        step.source = cases.source;
        steps.emplace_back(distance(scenario, published), std::move(step));
      } catch (const ConfigError&) {
        continue;  // A row that the data of the user changes is none.
      }
    }
  }
  std::ranges::stable_sort(steps, {}, &std::pair<double, PublishedStep>::first);
  std::vector<PublishedStep> closest;
  for (auto& [unlike, step] : steps) {
    if (closest.size() == most) break;
    const bool is_repeated = std::ranges::any_of(closest, [&](const PublishedStep& known) {
      return known.model == step.model && known.gpus == step.gpus && known.strategy == step.strategy &&
             known.source == step.source;
    });
    if (!is_repeated) closest.push_back(std::move(step));
  }
  return closest;
}

}  // namespace gradway
