// SPDX-License-Identifier: Apache-2.0
#include "sim/report/format/json_document.hpp"

#include <ostream>

#include <nlohmann/json.hpp>

namespace gradway::report {
namespace {

using Json = nlohmann::ordered_json;

Json message_json(const Where& where, const std::string& message) {
  return {{"message", message},     {"file", where.file},     {"line", where.line},
          {"column", where.column}, {"length", where.length}, {"text", where.text}};
}

}  // namespace

using Json = nlohmann::ordered_json;

JsonDocument::JsonDocument() : JsonDocument{Json{}} {}
JsonDocument::JsonDocument(Json json) : json_{std::make_shared<const Json>(std::move(json))} {}

std::string text_of(const JsonDocument& document) {
  return serialized(document.json(), 2);
}

void write(std::ostream& out, const JsonDocument& document) {
  out << text_of(document) << '\n';
}

void write_json(std::ostream& out, const std::vector<Problem>& problems) {
  auto list = Json::array();
  for (const auto& problem : problems) {
    auto& entry = list.emplace_back(message_json(problem.where, problem.what));
    entry["hint"] = problem.hint;
    entry["notes"] = Json::array();
    for (const auto& note : problem.notes) entry["notes"].push_back(message_json(note.where, note.what));
  }
  out << serialized(list);
}

}  // namespace gradway::report
