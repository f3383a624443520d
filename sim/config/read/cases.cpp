// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "sim/base/text.hpp"
#include "sim/config/find/document.hpp"
#include "sim/config/find/scenario_keys.hpp"
#include "sim/config/read/read.hpp"
#include "sim/config/yaml/quantities.hpp"
#include "sim/config/yaml/source_file.hpp"

namespace gradway {
namespace config {
namespace {

/// Finds the scenarios that a file of cases names.
class ScenarioFinder {
 public:
  ScenarioFinder(const FoundFile& cases, const DataPath& data) : cases_{cases}, all_{data} {}

  std::string operator()(const Node& node) const {
    const auto& name = text(node);
    const auto scenario_file =
        find_file(DataKind::scenario, name, all_, node.where, cases_.path.parent_path());
    // The name of a file in the data folders keeps the folder out of later messages.
    return scenario_file.path == scenario_file.shown ? scenario_file.shown : name;
  }

 private:
  const FoundFile& cases_;
  Lookup all_;
};

std::vector<Override> read_set(Reader& set, Problems& problems) {
  std::vector<Override> changes;
  for (const auto& entry : set.entries()) {
    try {
      check_scenario_key(entry.key, entry.where);
      changes.push_back({entry.key, to_yaml(entry.value), entry.value.where});
    } catch (const ConfigError& error) {
      problems.add(error);
    }
  }
  return changes;
}

Case read_case(Reader& row, const std::optional<std::string>& scenario, const ScenarioFinder& find) {
  Case result;
  result.where = row.where();
  result.name = row.required("name", text);
  result.scenario_file = row.optional("scenario", find, scenario.value_or(""));
  if (!scenario && !row.has("scenario"))
    row.error(row.where(), "the key 'scenario' is missing", "set it in the case or at the top of the file");
  if (auto set = row.maybe_map("set")) result.set = read_set(*set, row.problems());
  row.exactly_one({"step_time", "rate", "bus_bandwidth"}, "the measured time");
  const auto time = row.maybe("step_time", duration);
  const auto rate = row.maybe("rate", step_rate);
  result.bus_bandwidth = row.maybe("bus_bandwidth", bandwidth);
  result.measured = time ? *time : rate.value_or(Seconds{});
  row.finish();
  return result;
}

Cases read_cases(Reader& file, const ScenarioFinder& find) {
  Cases result;
  result.source = file.required("source", text);
  const auto scenario = file.maybe("scenario", find);
  DistinctKeys<std::string> names;
  if (!file.has("cases")) file.map("cases");
  for (auto& row : file.maps("cases")) {
    result.cases.push_back(read_case(row, scenario, find));
    const auto& name = result.cases.back().name;
    if (!name.empty())
      names.add(name, row, row.value_place("name"), fmt::format("duplicate case name '{}'", name));
  }
  if (file.is_valid() && result.cases.empty())
    file.error(file.key_place("cases"), "a file of cases requires at least one case");
  file.finish();
  return result;
}

}  // namespace
}  // namespace config

Cases load_cases(const std::string& file, const DataPath& data) {
  const auto cases_file = config::find_file(DataKind::scenario, file, data, config::in_file(file));
  config::Problems problems;
  const auto root = config::load_document(cases_file, problems);
  if (const auto* job = root.find("job"); job && !root.find("cases")) {
    config::fail(job->where, "the file is a scenario, not a file of cases",
                 "try: gradway run " + shell_word(cases_file.shown));
  }
  config::Reader reader{root, config::in_file(cases_file.shown), problems};
  auto cases = config::read_cases(reader, config::ScenarioFinder{cases_file, data});
  problems.raise();
  return cases;
}

}  // namespace gradway
