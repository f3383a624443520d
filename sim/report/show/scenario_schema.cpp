// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <ostream>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "sim/config/find/scenario_keys.hpp"
#include "sim/config/yaml/quantities.hpp"
#include "sim/report/format/json_document.hpp"
#include "sim/report/show/show.hpp"

namespace gradway::report {
namespace {

using Json = nlohmann::ordered_json;
using config::ScenarioKey;

constexpr std::string_view number_pattern = R"(\+?[0-9.]+([eE][-+]?[0-9]+)?)";

/// Regular expression for an amount.
std::string pattern_of(const value::Amount& amount) {
  const auto kinds = config::quantity_kinds();
  const auto kind =
      std::ranges::find(kinds, value::facts_of(amount.unit).quantity, &config::QuantityKind::name);
  std::string pattern = fmt::format("{}.*", number_pattern);
  if (kind != kinds.end()) {
    std::vector<std::string_view> units;
    for (const auto& unit : kind->units) units.push_back(unit.name);
    pattern = fmt::format("{} *({})", number_pattern, fmt::join(units, "|"));
  }
  if (!amount.instead_of.empty()) pattern = fmt::format("({}|{})", amount.instead_of, pattern);
  return fmt::format("^{}$", pattern);
}

Json any_of(Json first, Json second) {
  return {{"anyOf", Json::array({std::move(first), std::move(second)})}};
}

/// The JSON Schema of each kind of value.
struct ToSchema {
  Json operator()(const value::Boolean&) const { return {{"type", "boolean"}}; }
  Json operator()(const value::Whole& range) const {
    return {{"type", "integer"}, {"minimum", range.least}, {"maximum", range.most}};
  }
  Json operator()(const value::Gpus& gpus) const { return (*this)(value::Whole{1, gpus.most}); }
  Json operator()(const value::Real& range) const {
    return {{"type", "number"}, {"minimum", range.least}, {"maximum", range.most}};
  }
  Json operator()(const value::Ratio& ratio) const {
    return (*this)(value::Real{facts_of(ratio).least, facts_of(ratio).most});
  }
  Json operator()(const value::Words& words) const {
    Json allowed = words.words;
    for (const auto word : words.words)  // of which YAML makes booleans
      if (word == "true" || word == "false") allowed.push_back(word == "true");
    return {{"enum", std::move(allowed)}};
  }
  Json operator()(const value::WordsOrNone& words) const { return {{"enum", words_of(value::Kind{words})}}; }
  Json operator()(const value::Amount& amount) const {
    Json text{{"type", "string"}, {"pattern", pattern_of(amount)}, {"examples", {amount.example}}};
    const bool is_count = amount.unit == value::Unit::tokens || amount.unit == value::Unit::samples;
    return is_count ? any_of({{"type", "number"}, {"minimum", 1}}, std::move(text)) : text;
  }
  Json operator()(const value::Elements& elements) const {
    return {{"type", {"number", "string"}}, {"examples", {elements.example}}};
  }
  Json operator()(const value::WholeOrWord& choice) const {
    return any_of((*this)(choice.numbers), {{"const", choice.word}});
  }
  Json operator()(const value::Wrapping&) const {
    return {{"type", "string"},
            {"pattern", "^(block|whole|[0-9]+ blocks)$"},
            {"examples", {"block", "4 blocks"}}};
  }
  Json operator()(const value::Resharding& resharding) const {
    return any_of({{"type", "boolean"}}, (*this)(value::Whole{2, resharding.most}));
  }
  Json operator()(const value::AxisOrder&) const {
    return {{"type", "string"},
            {"pattern", "^(tp|cp|ep|dp|pp)(-(tp|cp|ep|dp|pp)){4}$"},
            {"examples", {"tp-cp-ep-dp-pp"}}};
  }
  Json operator()(const value::MedianAndWorst&) const {
    return (*this)(value::Amount{value::Unit::relative_error, "2.1 %"});
  }
  Json operator()(const value::Formatted& formatted) const {
    return {{"type", {"string", "number"}}, {"pattern", facts_of(formatted).pattern}};
  }
  Json operator()(const value::TextRows&) const { return {{"type", "string"}}; }
  Json operator()(const value::RowsOfExperts&) const {
    const Json rows{{"type", "array"}, {"minItems", 1}, {"items", {{"type", "number"}, {"minimum", 0}}}};
    return any_of(rows, {{"type", "array"}, {"minItems", 1}, {"items", rows}});
  }
  Json operator()(const value::Described&) const { return Json::object(); }
  Json operator()(const value::Name&) const { return {{"type", "string"}}; }
  Json operator()(const value::Text&) const { return {{"type", "string"}}; }
  Json operator()(const value::Names&) const { return {{"type", "array"}, {"items", {{"type", "string"}}}}; }
  Json operator()(const value::Map&) const { return {{"type", "object"}}; }
  Json operator()(const value::Maps&) const { return {{"type", "array"}, {"items", {{"type", "object"}}}}; }
};

/// A key with its subkeys. It has several rows if its value depends on the strategy.
struct Branch {
  std::vector<const ScenarioKey*> rows;
  std::vector<std::pair<std::string, Branch>> keys;

  Branch& operator[](std::string_view name) {
    const auto entry = std::ranges::find(keys, name, &std::pair<std::string, Branch>::first);
    return entry != keys.end() ? entry->second : keys.emplace_back(name, Branch{}).second;
  }
};

Branch tree_of(const std::vector<ScenarioKey>& keys) {
  Branch root;
  for (const auto& key : keys) {
    auto* branch = &root;
    for (std::size_t begin = 0; begin <= key.name.size();) {
      const auto dot = std::min(key.name.find('.', begin), key.name.size());
      branch = &(*branch)[key.name.substr(begin, dot - begin)];
      begin = dot + 1;
    }
    branch->rows.push_back(&key);
  }
  return root;
}

/// The default with the type that it has in YAML: numbers and booleans are not strings.
Json default_of(const ScenarioKey& key) {
  const bool is_text =
      !std::holds_alternative<value::Boolean>(key.kind) && !std::holds_alternative<value::Whole>(key.kind) &&
      !std::holds_alternative<value::Real>(key.kind) && !std::holds_alternative<value::Ratio>(key.kind) &&
      !std::holds_alternative<value::Elements>(key.kind);
  return is_text ? Json(key.default_text) : Json::parse(key.default_text);
}

Json value_schema(const Branch& branch) {
  std::vector<Json> schemas;
  std::vector<std::string> help;
  for (const auto* row : branch.rows) {
    auto schema = std::visit(ToSchema{}, row->kind);
    if (std::ranges::find(schemas, schema) == schemas.end()) schemas.push_back(std::move(schema));
    help.push_back(row->help());
  }
  Json schema = schemas.size() == 1 ? std::move(schemas.front()) : Json{{"anyOf", schemas}};
  schema["description"] = fmt::format("{}", fmt::join(help, "; "));
  const auto& row = *branch.rows.front();
  if (!row.default_text.empty() && branch.rows.size() == 1) schema["default"] = default_of(row);
  return schema;
}

Json schema_of(const Branch& branch);

/// A map with these keys and no others.
Json map_schema(const Branch& branch, bool may_be_partial) {
  Json schema{{"type", "object"}, {"additionalProperties", false}, {"properties", Json::object()}};
  Json required = Json::array();
  for (const auto& [name, key] : branch.keys) {
    schema["properties"][name] = schema_of(key);
    if (key.rows.front()->is_required) required.push_back(name);
  }
  if (!required.empty() && !may_be_partial) schema["required"] = std::move(required);
  return schema;
}

Json schema_of(const Branch& branch) {
  auto schema = value_schema(branch);
  if (branch.keys.empty()) return schema;
  const auto& kind = branch.rows.front()->kind;
  const auto& name = branch.rows.front()->name;
  auto map = map_schema(branch, name == "job");
  if (std::holds_alternative<value::Maps>(kind)) {
    schema["items"] = std::move(map);
  } else if (std::holds_alternative<value::Map>(kind)) {
    schema.update(map);
  } else {  // either a name or a map of keys
    auto description = std::move(schema["description"]);
    schema.erase("description");
    schema = any_of(std::move(schema), std::move(map));
    schema["description"] = std::move(description);
  }
  return schema;
}

/// The rules that restrict the keys to those of the kind of strategy, or of model.
Json rules_of_kinds(const Branch& strategy) {
  Json rules = Json::array();
  for (const auto kind : words_of(strategy.rows.front()->kind)) {
    if (kind == "local_sgd") continue;  // it also has the keys of the inner strategy
    Json names = Json::array();
    for (const auto& [name, key] : strategy.keys) {
      const bool is_there = key.rows.empty() || std::ranges::any_of(key.rows, [kind](const ScenarioKey* row) {
                              const auto& kinds = row->strategies;
                              return kinds.empty() || std::ranges::find(kinds, kind) != kinds.end();
                            });
      if (is_there) names.push_back(name);
    }
    rules.push_back({{"if", {{"required", {"kind"}}, {"properties", {{"kind", {{"const", kind}}}}}}},
                     {"then", {{"propertyNames", {{"enum", std::move(names)}}}}}});
  }
  return rules;
}

}  // namespace

void write_scenario_schema(std::ostream& out) {
  auto root = tree_of(config::described_keys());
  auto schema = map_schema(root, true);
  auto& strategy = root["strategy"];
  strategy.rows = strategy["kind"].rows;
  schema["properties"]["strategy"]["allOf"] = rules_of_kinds(strategy);
  Json file{
      {"$schema", "http://json-schema.org/draft-07/schema#"},
      {"title", "A scenario of gradway"},
      {"description", "What is trained, where, and how: one file for 'gradway run' and the other commands."}};
  file.update(schema);
  file["properties"]["schema"] = {{"const", 1}, {"description", root["schema"].rows.front()->meaning}};
  file["required"] = {"schema"};
  // A name, or a map with the keys that differ from those of the model of that name.
  auto& model = file["properties"]["model"];
  const auto help = model["description"];
  const Json changed{{"type", "object"}, {"required", {"based_on"}}};
  model = {{"anyOf", Json::array({{{"type", "string"}}, changed})}, {"description", help}};
  const Json calls_one{
      {"required", {"strategy"}},
      {"properties",
       {{"strategy", {{"required", {"kind"}}, {"properties", {{"kind", {{"const", "collective"}}}}}}}}}};
  file["allOf"] = Json::array(
      {{{"if", {{"not", {{"required", {"based_on"}}}}}},
        {"then", {{"required", {"platform", "job"}}, {"properties", {{"job", {{"required", {"gpus"}}}}}}}}},
       {{"if", {{"not", {{"anyOf", Json::array({Json{{"required", {"based_on"}}}, calls_one})}}}}},
        {"then", {{"required", {"model"}}, {"properties", {{"job", {{"required", {"batch_per_gpu"}}}}}}}}}});
  out << serialized(file, 2) << '\n';
}

void write_file_schema(std::ostream& out, const config::FileKind& kind) {
  const auto keys = kind.keys();
  auto root = tree_of(keys);
  auto schema = map_schema(root, false);
  const auto required = std::exchange(schema["required"], {"schema"});
  schema["properties"]["schema"] = {{"const", 1}};
  schema["properties"]["based_on"] = {{"type", "string"}, {"description", "another file of this kind"}};
  const Json needs_none{
      {"anyOf", Json::array({Json{{"required", {"based_on"}}}, Json{{"required", {"ideal"}}}})}};
  schema["allOf"] = Json::array({Json{{"if", {{"not", needs_none}}}, {"then", {{"required", required}}}}});
  if (kind.name == "model") {
    root.rows = root["kind"].rows;
    for (const auto* key : {"schema", "based_on"}) root[key];
    for (auto& rule : rules_of_kinds(root)) schema["allOf"].push_back(std::move(rule));
  }
  Json file{{"$schema", "http://json-schema.org/draft-07/schema#"}, {"title", kind.title}};
  file.update(schema);
  out << serialized(file, 2) << '\n';
}

}  // namespace gradway::report
