// SPDX-License-Identifier: Apache-2.0
#include "cli/points/platforms.hpp"

#include <fnmatch.h>

#include <algorithm>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "cli/commands.hpp"
#include "sim/base/nearest.hpp"
#include "sim/base/text.hpp"
#include "sim/config/yaml/foreign_names.hpp"
#include "sim/config/yaml/scalars.hpp"
#include "sim/study/compare/sweep.hpp"

namespace gradway::cli {

std::vector<std::string> list_of(std::string_view option, const std::string& text) {
  auto values = values_of_list(option, text);
  for (auto value = values.begin(); value != values.end(); ++value) {
    *value = std::string{trimmed(*value)};
    if (value->empty())
      refuse(fmt::format("'{} {}' has an empty value", option, text), "write values between the commas");
    if (std::find(values.begin(), value, *value) != value)
      refuse(fmt::format("'{} {}' has '{}' twice", option, text, *value), "give each value once");
  }
  return values;
}

namespace {

/// The platforms whose name, or whose GPU, matches a pattern. @throws ConfigError for none
std::vector<std::string> matching(const std::string& pattern, const DataPath& data) {
  std::vector<std::string> platforms;
  const auto matches = [&](const std::string& name) {
    return fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
  };
  for (const auto& name : list_names(DataKind::platform, data))
    if (matches(name) || matches(gpu_of_platform(name, data))) platforms.push_back(name);
  if (platforms.empty())
    refuse(fmt::format("no platform matches '--platforms {}', and no GPU of one", pattern),
           "'gradway list platforms' lists all names");
  return platforms;
}

}  // namespace

std::vector<std::string> platforms_of(const std::string& text, const DataPath& data, const std::string& gpu) {
  std::vector<std::string> platforms;
  for (const auto& name : text.empty() ? std::vector<std::string>{"*"} : list_of("--platforms", text)) {
    const bool is_pattern = name.find_first_of("*?[") != std::string::npos;
    for (const auto& platform : is_pattern ? matching(name, data) : std::vector{name})
      if (std::ranges::find(platforms, platform) == platforms.end()) platforms.push_back(platform);
  }
  if (gpu.empty()) return platforms;
  const auto models = list_of("--gpu", gpu);
  std::erase_if(platforms, [&](const std::string& platform) {
    return std::ranges::none_of(models, [of_platform = gpu_of_platform(platform, data)](const auto& model) {
      return config::is_gpu_model(of_platform, model);
    });
  });
  if (!platforms.empty()) return platforms;
  auto models_of_gpus = list_names(DataKind::gpu, data);
  for (auto& name : models_of_gpus) name.resize(std::min(name.find('-'), name.size()));  // "h100-sxm"
  models_of_gpus.erase(std::unique(models_of_gpus.begin(), models_of_gpus.end()), models_of_gpus.end());
  refuse(fmt::format("no platform{} has the GPU '{}'",
                     text.empty() ? "" : fmt::format(" of '--platforms {}'", text), gpu),
         suggestion(gpu, models_of_gpus));
}

void add_platforms(CLI::App& app, std::string& platforms, std::string& gpu) {
  app.add_option(
         "--platforms", platforms,
         "names from 'gradway list platforms', separated by commas, or patterns such as 'aws-*' of names "
         "and GPUs")
      ->type_name("A,B,...");
  app.add_option("--gpu", gpu, "only platforms with these GPUs, such as h100 or h200,b200")
      ->type_name("NAME,...");
}

std::vector<report::ListedPlatform> one_node_of_each(const std::vector<std::string>& names,
                                                     const DataPath& data) {
  std::vector<report::ListedPlatform> listed;
  for (const auto& name : names) {
    auto& row = listed.emplace_back(report::ListedPlatform{name, {}});
    try {
      row.platform = load_platform(name, 1, data);
    } catch (const ConfigError&) {  // its name is listed nevertheless
    }
  }
  return listed;
}

}  // namespace gradway::cli
