// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/points/platforms.hpp"

#include <fnmatch.h>

#include <algorithm>

#include <fmt/format.h>

#include "sim/cli/commands.hpp"
#include "sim/config/yaml/scalars.hpp"
#include "sim/study/compare/sweep.hpp"

namespace gradway::cli {

std::vector<std::string> list_of(std::string_view option, const std::string& text) {
  auto values = values_of_list(option, text);
  for (auto value = values.begin(); value != values.end(); ++value) {
    *value = std::string{config::trim(*value)};
    if (value->empty())
      refuse(fmt::format("'{} {}' has an empty value", option, text), "write values between the commas");
    if (std::find(values.begin(), value, *value) != value)
      refuse(fmt::format("'{} {}' has '{}' twice", option, text, *value), "give each value once");
  }
  return values;
}

std::vector<std::string> platforms_of(const std::string& text, const DataPath& data) {
  const std::string option = "--platforms";
  std::vector<std::string> platforms;
  const auto known = list_names(DataKind::platform, data);
  for (const auto& name : list_of(option, text)) {
    const bool is_pattern = name.find_first_of("*?[") != std::string::npos;
    const auto matches = [&](const std::string& one) { return fnmatch(name.c_str(), one.c_str(), 0) == 0; };
    if (is_pattern && std::ranges::none_of(known, matches))
      refuse(fmt::format("no platform matches '{} {}'", option, name),
             "'gradway list platforms' lists all names");
    for (const auto& one : is_pattern ? known : std::vector{name}) {
      const bool is_meant = !is_pattern || matches(one);
      if (is_meant && std::ranges::find(platforms, one) == platforms.end()) platforms.push_back(one);
    }
  }
  return platforms;
}

std::vector<report::ListedPlatform> one_node_of_each(const std::vector<std::string>& names,
                                                     const DataPath& data) {
  std::vector<report::ListedPlatform> listed;
  for (const auto& name : names) {
    auto& one = listed.emplace_back(report::ListedPlatform{name, {}});
    try {
      one.platform = load_platform(name, 1, data);
    } catch (const ConfigError&) {  // its name is listed nevertheless
    }
  }
  return listed;
}

}  // namespace gradway::cli
