// SPDX-License-Identifier: Apache-2.0
// The table of keys, which people read, against the reader, which counts.
#include <algorithm>
#include <map>
#include <regex>
#include <set>

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "sim/config/config.hpp"
#include "sim/config/find/document.hpp"
#include "sim/config/find/scenario_keys.hpp"
#include "sim/config/read/read.hpp"
#include "sim/cost/nccl_settings.hpp"

using namespace gradway;
using config::described_keys;

namespace {

std::set<std::string> split(const std::string& list) {
  std::set<std::string> words;
  const std::regex word{"[^, ]+"};
  for (std::sregex_iterator at{list.begin(), list.end(), word}, end; at != end; ++at) words.insert(at->str());
  return words;
}

/// What the reader of scenarios says where only this stands in a group.
std::vector<Problem> problems_of(const std::string& group, const std::string& keys) {
  auto file = fmt::format("{{{}}}", keys);
  if (group == "traffic" || group.ends_with("classes")) file = "[" + file + "]";
  for (auto left = group; !left.empty();) {  // from the inside
    const auto dot = left.rfind('.');
    file = fmt::format("{{{}: {}}}", left.substr(dot + 1), file);
    left = dot == std::string::npos ? "" : left.substr(0, dot);
  }
  config::Problems problems;
  const auto root = config::parse_yaml(config::SourceText{config::in_file("x"), file}, problems);
  config::Reader reader{root, config::in_file("x"), problems};
  config::read_scenario(reader);
  try {
    problems.raise();
  } catch (const ConfigError& error) {
    return error.problems();
  }
  return {};
}

/// Keys that the reader takes in this group: its own hint for an unknown one.
std::set<std::string> read_keys(const std::string& group) {
  for (const auto& problem : problems_of(group, "zzzzz: 1")) {
    if (problem.what.find("'zzzzz'") != std::string::npos && problem.hint.starts_with("known: "))
      return split(problem.hint.substr(7));
  }
  return {};
}

/// Keys that the reader misses where a group is empty; "model" and the like are of the file, not of the
/// group.
std::set<std::string> missed_keys(const std::string& group) {
  const auto missed_in = [](const std::vector<Problem>& problems) {
    std::set<std::string> names;
    std::smatch parts;
    for (const auto& problem : problems) {
      if (std::regex_match(problem.what, parts, std::regex{"the key '(.*)' is missing"}))
        names.insert(parts[1]);
    }
    return names;
  };
  auto missed = missed_in(problems_of(group, ""));
  if (group.empty()) return missed;
  for (auto around = group; !around.empty();) {
    around = around.substr(0, around.find('.') == std::string::npos ? 0 : around.rfind('.'));
    for (const auto& name : missed_in(problems_of(around, ""))) missed.erase(name);
  }
  return missed;
}

/// Keys of the table in this group, without its name.
std::set<std::string> told_keys(const std::string& group, bool only_required = false) {
  std::set<std::string> names;
  for (const auto& key : described_keys()) {
    if (only_required && !key.is_required) continue;
    const auto dot = key.name.rfind('.');
    const auto own_group = dot == std::string::npos ? "" : key.name.substr(0, dot);
    if (own_group == group) names.insert(dot == std::string::npos ? key.name : key.name.substr(dot + 1));
  }
  return names;
}

const config::ScenarioKey& row_of(const std::string& name) {
  return *std::ranges::find(described_keys(), name, &config::ScenarioKey::name);
}

/// What else must stand in the map of a dataset or a tier.
std::string others_in_the_map(const config::ScenarioKey& key) {
  const auto dot = key.name.rfind('.');
  const auto group = key.name.substr(0, dot), name = key.name.substr(dot + 1);
  std::map<std::string, std::string> others;
  if (group == "input.storage") others = {{"read", "8 GB/s"}};
  if (group == "input.storage.burst") others = {{"credit", "1 TB"}, {"sustained", "1 GB/s"}};
  if (group == "input.storage.price") others = {{"as_of", "2026-11-01"}};
  if (group == "input.dataset") {
    const bool has_columns = name == "columns" || name == "row_group";
    others = {{"samples", "9"}, {"format", has_columns ? "parquet" : "shards"}};
    if (!has_columns) others["sample_size"] = "9 kB";
    if (has_columns) others.insert({{"row_group", "9"}, {"columns", "[{ name: a, size: 9 kB }]"}});
  }
  std::string text;
  for (const auto& [other, value] : others)
    if (other != name) text += fmt::format(", {}: {}", other, value);
  return text;
}

/// The change that gives the key a value: by itself, or in the map or list that can be set.
Override set_in_its_map(const config::ScenarioKey& key, const std::string& value) {
  if (key.is_settable) return {key.name, value};
  const auto dot = key.name.rfind('.');
  const auto& group = row_of(key.name.substr(0, dot));
  const auto map = fmt::format("{{ {}: {}{} }}", key.name.substr(dot + 1), value, others_in_the_map(key));
  const bool is_list = std::holds_alternative<value::Maps>(group.kind);
  return set_in_its_map(group, is_list ? fmt::format("[{}]", map) : map);
}

/// What is said of a value of a key, alone or in its group.
std::string said_of(const config::ScenarioKey& key, const std::string& value) {
  std::vector<Override> changes;
  if (!key.strategies.empty()) changes.push_back({"strategy.kind", std::string{key.strategies.front()}});
  if (key.meaning.starts_with("with storage:"))
    changes.push_back({"campaign", "{ samples: 1M, checkpoint: { storage: s3-standard } }"});
  if (key.name == "campaign.samples_per_epoch") changes.push_back({"campaign.epochs", "1"});
  if (key.meaning.find("with stage 3") != std::string::npos) changes.push_back({"strategy.stage", "3"});
  if (key.meaning.find("memory-mapped") != std::string::npos)
    changes.push_back({"input.dataset", "{ samples: 1e6, sample_size: 1 MB, format: mapped }"});
  changes.push_back(set_in_its_map(key, value));
  try {
    load_scenario(GRADWAY_SOURCE_DIR "/tests/config/good/full.yaml", changes, {});
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

/// A kind of value: a wrong one, and what the reader says of it.
struct Kind {
  std::regex form;
  std::string wrong, said;  ///< empty: the value as the table has it
};

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> all = {
      {std::regex{"\\d+ to \\d+"}, "1099511627776", ""},
      {std::regex{"all, or \\d+ to \\d+"}, "0", "out of range: 1 to 1000000"},
      {std::regex{"(\\d+, )*\\d+ or \\d+"}, "65", ""},
      {std::regex{"true or false"}, "maybe", ""},
      {std::regex{"[\\w-]+(, [\\w-]+)+"}, "zzzzz", ""},
      {std::regex{"a number (from .*)"}, "1e300", ""},
      {std::regex{"a size such as .*"}, "5", "'MB' or 'MiB'"},
      {std::regex{"a (time|latency) such as .*"}, "5", "'us' or 'ms'"},
      {std::regex{"a step rate such as .*"}, "5", "'steps/s'"},
      {std::regex{"(best, or )?a duration such as .*"}, "5", "'5' has no unit"},
      {std::regex{"a number of (tokens|samples) such as .*"}, "0", "is too few"},
      {std::regex{"a percentage such as .*"}, "101 %", "at most 100 %"},
      {std::regex{"a price per hour such as .*"}, "5", "'USD/h'"},
      {std::regex{"a power such as .*"}, "5", "'W'"},
      {std::regex{"a price per GB such as .*"}, "5", "is not a price per GB"},
      {std::regex{"a compute rate such as .*"}, "5", "'TFLOP/s'"},
      {std::regex{"a carbon intensity such as .*"}, "5", "is not a carbon intensity"},
      {std::regex{"a slow-down from .*"}, "0.5", "a slow-down must be from 1 to 1000"},
      {std::regex{"a bandwidth such as .*"}, "5", "'GB/s'"},
      {std::regex{"block, whole, or .*"}, "5", "invalid wrap"},
      {std::regex{"true, false, or .*"}, "maybe", "expected true, false or a number of ranks"},
      {std::regex{"an axis order such as .*"}, "tp-pp", "invalid axis order"},
      {std::regex{"a number of elements such as .*"}, "0", "is not a number of elements"},
      {std::regex{"a name|a text"}, "[]", "expected text"},
      {std::regex{"a map"}, "5", "expected a map of keys and values"},
      {std::regex{"a list of numbers, .*"}, "5", "expected a list of numbers"},
      {std::regex{"a list of maps|a list of names"}, "5", "expected a list"},
  };
  return all;
}

bool is_of_the_file(const std::string& name) {
  return name == "schema" || name == "based_on";  // taken before the scenario is read
}

}  // namespace

TEST_CASE("the table of keys has those that the reader takes, and no other", "[config][keys]") {
  for (const std::string group : {"",
                                  "job",
                                  "strategy",
                                  "parallel",
                                  "input",
                                  "input.dataset",
                                  "input.dataset.cpu",
                                  "input.storage",
                                  "input.storage.burst",
                                  "input.storage.price",
                                  "anchor",
                                  "traffic",
                                  "faster",
                                  "nccl",
                                  "campaign",
                                  "campaign.checkpoint",
                                  "campaign.restart",
                                  "campaign.failures",
                                  "campaign.spot",
                                  "campaign.stragglers",
                                  "campaign.evaluation",
                                  "campaign.prices",
                                  "strategy.wan",
                                  "strategy.clients",
                                  "strategy.clients.classes",
                                  "campaign.carbon"}) {
    CAPTURE(group);
    auto told = told_keys(group);
    std::erase_if(told, [](const auto& name) { return is_of_the_file(name); });
    CHECK(told == read_keys(group));
    auto required = told_keys(group, true);
    std::erase_if(required, [](const auto& name) { return is_of_the_file(name); });
    auto missed = missed_keys(group);
    missed.erase("sample_size");  // of all formats but parquet
    CHECK(required == missed);
  }
}

TEST_CASE("what the table says of a value is what the reader takes", "[config][keys]") {
  for (const auto& key : described_keys()) {
    if (is_of_the_file(key.name) || key.name == "source") continue;
    const auto can_be = key.value();
    CAPTURE(key.name, can_be);
    const auto kind =
        std::ranges::find_if(kinds(), [&](const Kind& one) { return std::regex_match(can_be, one.form); });
    REQUIRE(kind != kinds().end());
    std::smatch parts;
    std::regex_match(can_be, parts, kind->form);
    const auto range = can_be.starts_with("a number") ? parts[1].str() : can_be;
    const auto said = said_of(key, kind->wrong);
    CAPTURE(said);
    CHECK(said.find(kind->said.empty() ? range : kind->said) != std::string::npos);
    if (const auto example = can_be.find("such as "); example != std::string::npos) {
      const auto value = can_be.substr(example + 8);
      const auto comma = std::min(value.find(", or "), value.size());
      CHECK(said_of(key, value.substr(0, comma)).find(" unit") == std::string::npos);
      if (comma == value.size()) continue;
      const auto said_of_zero = said_of(key, value.substr(comma + 5));  // it may make other keys idle
      CHECK((said_of_zero.empty() || said_of_zero.find(" has no effect: ") != std::string::npos));
    }
  }
}

TEST_CASE("the table says which variables of NCCL are not modelled", "[config][keys]") {
  for (const auto& key : described_keys()) {
    if (!key.name.starts_with("nccl.")) continue;
    CAPTURE(key.name);
    CHECK((key.meaning.find("not modelled") == std::string::npos) == is_modelled(key.name.substr(5)));
  }
}

TEST_CASE("keys of files alone cannot be set", "[config][keys]") {
  for (const auto& key : described_keys()) {
    if (key.is_settable) continue;
    CAPTURE(key.name);
    CHECK_THROWS_WITH(config::check_scenario_key(key.name, {}), Catch::Matchers::Contains("unknown key"));
  }
}
