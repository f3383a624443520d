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
  auto all = Json::array();
  for (const auto& problem : problems) {
    auto& one = all.emplace_back(message_json(problem.where, problem.what));
    one["hint"] = problem.hint;
    one["notes"] = Json::array();
    for (const auto& note : problem.notes) one["notes"].push_back(message_json(note.where, note.what));
  }
  out << serialized(all);
}

}  // namespace gradway::report
